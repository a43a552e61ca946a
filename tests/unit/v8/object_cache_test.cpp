#include "v8/object_cache.h"

#include <gtest/gtest.h>

#include "support/fake_v8.h"

namespace nodescope::v8 {
namespace {

class ObjectCacheTest : public ::testing::Test {
 protected:
  std::uint64_t* find(Address address) {
    return cache.find(memory, address, 16, [&]() -> std::optional<std::uint64_t> {
      ++loads;
      return memory.load<std::uint64_t>(address + 8);
    });
  }

  testing::FakeMemory memory;
  Address object = memory.allocate(32);
  ObjectCache<std::uint64_t> cache;
  int loads = 0;
};

TEST_F(ObjectCacheTest, LoadsOnceWhileTheBytesStay) {
  memory.put(object + 8, std::uint64_t{7});
  ASSERT_NE(find(object), nullptr);
  EXPECT_EQ(*find(object), 7u);
  cache.begin_generation();
  EXPECT_EQ(*find(object), 7u);
  EXPECT_EQ(loads, 1);
}

TEST_F(ObjectCacheTest, LoadsAgainWhenAnotherObjectIsThere) {
  memory.put(object + 8, std::uint64_t{7});
  find(object);
  memory.put(object + 8, std::uint64_t{8});
  EXPECT_EQ(*find(object), 7u) << "within a generation the memory counts as standing still";
  cache.begin_generation();
  EXPECT_EQ(*find(object), 8u);
  EXPECT_EQ(loads, 2);
}

TEST_F(ObjectCacheTest, BytesBehindTheIdentityDoNotCount) {
  find(object);
  memory.put(object + 16, std::uint64_t{1});
  cache.begin_generation();
  find(object);
  EXPECT_EQ(loads, 1);
}

TEST_F(ObjectCacheTest, WhatWasKnownOfAProcessThatHasEndedCountsForAMoment) {
  memory.put(object + 8, std::uint64_t{7});
  find(object);
  cache.begin_generation();
  memory.gone = true;
  ASSERT_NE(find(object), nullptr);
  EXPECT_EQ(*find(object), 7u);
  EXPECT_EQ(find(object + 16), nullptr);
  for (std::uint64_t i = 0; i < kRecentGenerations; ++i) cache.begin_generation();
  EXPECT_EQ(find(object), nullptr);
}

TEST_F(ObjectCacheTest, WhatCannotBeReadIsNothing) {
  EXPECT_EQ(find(Address{0x10}), nullptr);
  cache.begin_generation();
  EXPECT_EQ(find(Address{0x10}), nullptr);
  EXPECT_EQ(loads, 0);
}

}  // namespace
}  // namespace nodescope::v8
