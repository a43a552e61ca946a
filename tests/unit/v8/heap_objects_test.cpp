#include "v8/heap_objects.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "support/fake_isolate.h"

namespace nodescope {
namespace {

using testing::FakeIsolate;

constexpr std::uint32_t kReadOnlyMaps = 6;  // the maps are objects too

std::uint32_t live(FakeIsolate& heap) {
  const auto read = heap.read();
  return read.live.size() == 1 ? read.live[0] - kReadOnlyMaps : ~std::uint32_t{0};
}

TEST(HeapPages, FindsPagesByTheirHeaders) {
  FakeIsolate heap;
  const auto pages = v8::find_heap_pages(heap.memory, heap.map());
  ASSERT_EQ(pages.size(), 2U);
  EXPECT_EQ(pages[0].kind, v8::SpaceKind::kReadOnly);
  EXPECT_EQ(pages[1].kind, v8::SpaceKind::kOld);
  EXPECT_EQ(pages[1].heap, Address{FakeIsolate::kHeap});
  EXPECT_EQ(pages[1].objects.begin, Address{FakeIsolate::kOldPage + FakeIsolate::kAreaOffset});
}

TEST(HeapRoots, FindsTheIsolateItsThreadAndItsHandles) {
  FakeIsolate heap;
  const std::uint64_t strong = heap.object();
  const std::uint64_t weak = heap.object();
  heap.add_global_handle(strong);
  heap.add_global_handle(weak, 2);
  const auto read = heap.read();
  ASSERT_EQ(read.isolates.size(), 1U);
  EXPECT_EQ(read.isolates[0].isolate, Address{FakeIsolate::kIsolate});
  EXPECT_EQ(read.isolates[0].tid, 1);
  const std::vector<v8::HeapRoot> expected = {{v8::RootKind::kGlobalHandles, strong}};
  EXPECT_EQ(read.isolates[0].roots, expected);
}

TEST(HeapRoots, TakesWordsOfTheStackForReferences) {
  FakeIsolate heap;
  const std::uint64_t object = heap.object();
  heap.memory.put(Address{FakeIsolate::kStack + 0x300}, object);
  heap.memory.put(Address{FakeIsolate::kStack + 0x8}, heap.object());  // below the stack pointer
  EXPECT_EQ(live(heap), 1U);
}

TEST(HeapObjects, MarksWhatTheRootsReach) {
  FakeIsolate heap;
  const std::uint64_t kept = heap.object(heap.object());
  heap.object(kept);  // garbage that refers to what lives
  const std::array elements = {kept, std::uint64_t{5} << 32, kept + 2};
  heap.add_global_handle(heap.array(elements));
  const auto read = heap.read();
  ASSERT_EQ(read.live.size(), 1U);
  EXPECT_EQ(read.live[0] - kReadOnlyMaps, 3U);
  EXPECT_EQ(read.dead, 1U);
  EXPECT_EQ(read.live_bytes - kReadOnlyMaps * 80, 32U + 32 + 40);
  EXPECT_EQ(read.check.broken_references, 0U);
}

TEST(HeapObjects, WeakReferencesKeepNothingAlive) {
  FakeIsolate heap;
  const std::array elements = {heap.object() + 2};
  heap.add_global_handle(heap.array(elements));
  EXPECT_EQ(live(heap), 1U);
}

TEST(HeapObjects, AValueOfAWeakMapLivesAsLongAsItsKey) {
  for (const bool key_lives : {false, true}) {
    FakeIsolate heap;
    const std::uint64_t key = heap.object();
    const std::uint64_t value = heap.object();
    const std::uint64_t smi = std::uint64_t{1} << 32;
    const std::array table = {smi, std::uint64_t{0}, smi, key, value};
    const std::uint64_t entries = heap.array(table, heap.ephemeron_map);
    const std::array elements = {heap.object(entries, heap.weak_map_map), key_lives ? key : smi};
    heap.add_global_handle(heap.array(elements));
    EXPECT_EQ(live(heap), key_lives ? 5U : 3U);
  }
}

// The value of one pair is the key of the next.
TEST(HeapObjects, FollowsLongChainsOfWeakMaps) {
  constexpr std::size_t kPairs = 500;
  FakeIsolate heap;
  std::vector<std::uint64_t> objects;
  for (std::size_t i = 0; i <= kPairs; ++i) objects.push_back(heap.object());
  std::vector<std::uint64_t> table = {kPairs << 32, 0, kPairs << 32};
  for (std::size_t i = kPairs; i-- > 0;) table.insert(table.end(), {objects[i], objects[i + 1]});
  const std::uint64_t entries = heap.array(table, heap.ephemeron_map);
  const std::array elements = {heap.object(entries, heap.weak_map_map), objects[0]};
  heap.add_global_handle(heap.array(elements));
  EXPECT_EQ(live(heap), kPairs + 1 + 3);
}

TEST(HeapObjects, ReportsReferencesToWhereNoObjectIs) {
  FakeIsolate heap;
  heap.add_global_handle(heap.object(FakeIsolate::kOldPage + 0x8001));
  EXPECT_EQ(heap.read().check.broken_references, 1U);
}

TEST(HeapObjects, NumbersAreDense) {
  FakeIsolate heap;
  const std::array elements = {heap.object(), heap.object()};
  const std::uint64_t array = heap.array(elements);
  heap.add_global_handle(array);
  const auto read = heap.read();
  ASSERT_EQ(read.live.size(), 1U);
  EXPECT_EQ(read.live[0], kReadOnlyMaps + 3);
}

// Whatever the memory holds, reading it ends.
TEST(HeapObjects, SurvivesDamage) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 300; ++round) {
    FakeIsolate heap;
    std::vector<std::uint64_t> elements;
    for (int i = 0; i < 40; ++i) elements.push_back(heap.object(elements.empty() ? 0 : elements.back()));
    heap.add_global_handle(heap.array(elements));
    for (int i = 0; i < 20; ++i) {
      const std::uint64_t page = random() % 2 == 0 ? FakeIsolate::kReadOnlyPage : FakeIsolate::kOldPage;
      const std::uint64_t at = page + (random() % 2 == 0 ? random() % 64 : 0x1000 + random() % 0x600);
      const std::uint64_t value =
          random() % 3 == 0 ? random() : FakeIsolate::kReadOnlyPage + random() % 0x80000;
      heap.memory.put(Address{at & ~std::uint64_t{7}}, value);
    }
    heap.read();
  }
}

TEST(HeapObjects, SurvivesTruncation) {
  FakeIsolate heap;
  heap.add_global_handle(heap.object());
  while (heap.memory.bytes.size() > 0x2000) {
    heap.memory.bytes.resize(heap.memory.bytes.size() - 0x1FF8);
    v8::find_isolates(heap.memory, heap.map(), v8::find_heap_pages(heap.memory, heap.map()), heap.threads());
  }
}

}  // namespace
}  // namespace nodescope
