// Takes values out of memory that is not what it should be.  The input is a list of patches of a good image:
// {u16 place in words, u64 value}.
#include <cstdint>
#include <cstring>

#include "base/check.h"
#include "support/fake_values.h"
#include "v8/value_decoder.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nodescope;
  constexpr std::size_t kPatchBytes = 10;
  static const testing::FakeValues good;
  testing::FakeValues values = good;
  auto& bytes = values.heap.memory.bytes;
  for (std::size_t at = 0; at + kPatchBytes <= size; at += kPatchBytes) {
    std::uint16_t place = 0;
    std::memcpy(&place, data + at, sizeof place);
    const std::size_t word = place % (bytes.size() / 8);
    std::memcpy(bytes.data() + 8 * word, data + at + sizeof place, 8);
  }
  v8::Heap heap(values.heap.memory, values.layout);
  v8::Scripts scripts;
  v8::ValueDecoder decoder(heap, values.facts, scripts);
  for (const auto& [name, word] : values.words) {
    const v8::DecodedValue value = decoder.decode(word, {.depth = 2, .members = 16});
    NODESCOPE_CHECK(value.elements.size() <= 16 && value.properties.size() <= 16 &&
                    value.captured.size() <= 16);
  }
  return 0;
}
