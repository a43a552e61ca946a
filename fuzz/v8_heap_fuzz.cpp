#include <cstdint>
#include <cstring>

#include "support/heap_graphs.h"

// Every 10 bytes replace one word of a small heap: where, and by what.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using nodescope::Address;
  using nodescope::testing::FakeIsolate;
  constexpr std::size_t kMaxChanges = 64;
  FakeIsolate heap;
  std::vector<std::uint64_t> elements;
  for (int i = 0; i < 20; ++i) elements.push_back(heap.object(elements.empty() ? 0 : elements.back()));
  heap.add_global_handle(heap.array(elements));
  for (std::size_t i = 0; i < kMaxChanges && size >= 10; ++i, data += 10, size -= 10) {
    std::uint16_t where = 0;
    std::uint64_t word = 0;
    std::memcpy(&where, data, sizeof where);
    std::memcpy(&word, data + 2, sizeof word);
    const std::uint64_t areas[] = {FakeIsolate::kReadOnlyPage, FakeIsolate::kReadOnlyPage + 0x1000,
                                   FakeIsolate::kOldPage,      FakeIsolate::kOldPage + 0x1000,
                                   FakeIsolate::kHeap,         FakeIsolate::kGlobalHandles,
                                   FakeIsolate::kIsolate,      FakeIsolate::kStack};
    heap.memory.put(Address{areas[where % 8] + (where / 8 % 0x180) * 8}, word);
  }
  heap.read();
  nodescope::testing::graphs_of(heap);
  return 0;
}
