#include "v8/heap.h"

#include <gtest/gtest.h>

#include "support/fake_v8.h"

namespace nodescope::v8 {
namespace {

using testing::FakeHeap;

class HeapTest : public ::testing::Test {
 protected:
  void replace_map(TaggedWord object, std::uint64_t word) { fake.memory.put(object.address(), word); }

  FakeHeap fake;
  Layout layout = testing::layout_of_node_20();
  Heap heap{fake.memory, layout};
};

TEST_F(HeapTest, FollowsAnObjectThatACollectorMoved) {
  const TaggedWord here = fake.bytes("now");
  const TaggedWord between = fake.bytes("in between");
  const TaggedWord before = fake.bytes("before");
  replace_map(before, between.address().value);
  replace_map(between, here.address().value);
  EXPECT_EQ(heap.moved(before), here);
  EXPECT_EQ(heap.moved(here), here);
}

TEST_F(HeapTest, ASmallIntegerInPlaceOfTheMapIsNoAddress) {
  const TaggedWord object = fake.bytes("x");
  replace_map(object, FakeHeap::smi(6));
  EXPECT_EQ(heap.moved(object), object);
}

TEST_F(HeapTest, AddressesInACircleEnd) {
  const TaggedWord a = fake.bytes("a");
  const TaggedWord b = fake.bytes("b");
  replace_map(a, b.address().value);
  replace_map(b, a.address().value);
  const TaggedWord end = heap.moved(a);
  EXPECT_TRUE(end == a || end == b);
}

TEST_F(HeapTest, KnowsYoungObjectsByTheirPage) {
  const Address page{testing::FakeMemory::kBegin};
  const TaggedWord object = fake.bytes("x");
  EXPECT_FALSE(heap.is_young(object));
  for (const std::uint32_t flag : {8u, 16u}) {
    fake.memory.put(page + 8, flag);
    EXPECT_TRUE(heap.is_young(object));
  }
  fake.memory.put(page + 8, 0u);
  layout.version = {15, 0, 0};  // who knows
  EXPECT_TRUE(heap.is_young(object));
}

}  // namespace
}  // namespace nodescope::v8
