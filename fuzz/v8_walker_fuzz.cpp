// Reads the frames of a process whose memory is not what it should be.  The input is a list of patches of a
// good image: {u16 place in words, u64 value}; an input of one byte leaves it as it is.
#include <cstdint>
#include <cstring>

#include "base/check.h"
#include "support/fake_v8.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nodescope;
  constexpr std::size_t kPatchBytes = 10;
  static const testing::FakeProcess good = testing::make_fake_process();
  testing::FakeProcess process = good;
  auto& bytes = process.heap.memory.bytes;
  for (std::size_t at = 0; at + kPatchBytes <= size; at += kPatchBytes) {
    std::uint16_t place = 0;
    std::memcpy(&place, data + at, sizeof place);
    const std::size_t word = place % (bytes.size() / 8);
    std::memcpy(bytes.data() + 8 * word, data + at + sizeof place, 8);
  }
  RegisterSet registers;
  registers.set(Register::kRsp, testing::FakeMemory::kBegin);
  registers.set(Register::kRdi, testing::FakeMemory::kBegin + (size > 0 ? data[0] * 8u : 0u) + 1);
  v8::Heap heap(process.heap.memory, process.layout);
  v8::CodeFinder codes(heap);
  v8::Scripts scripts;
  v8::FrameReader reader(heap, process.space, codes, scripts);
  const auto read_all = [&] {
    for (v8::PhysicalFrame frame : process.frames) {
      for (const bool leaf : {false, true}) {
        frame.is_leaf = leaf;
        frame.frameless = leaf && size % 2 == 1;
        frame.registers = leaf ? &registers : nullptr;
        const auto frames = reader.read(frame);
        NODESCOPE_CHECK(!frames.empty() && frames.size() <= 256);
        for (const v8::Frame& logical : frames) {
          if (logical.script) scripts.place(*logical.script, logical.offset);
        }
      }
    }
  };
  read_all();
  // What was learnt from bad memory is compared with good memory before it counts.
  process.heap.memory.bytes = good.heap.memory.bytes;
  heap.forget();
  scripts.begin_generation();
  reader.begin_generation();
  read_all();
  return 0;
}
