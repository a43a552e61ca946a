#include "target/snapshot_memory.h"

#include <gtest/gtest.h>

#include "support/fake_v8.h"

namespace nodescope {
namespace {

TEST(SnapshotMemory, TheSnapshotHidesWhatIsThereNow) {
  testing::FakeMemory now;
  const Address stack = now.allocate(32);
  now.put(stack, std::uint64_t{1});
  now.put(stack + 8, std::uint64_t{2});
  now.put(stack + 16, std::uint64_t{3});
  SnapshotMemory memory(now);
  EXPECT_EQ(memory.load<std::uint64_t>(stack + 8), 2u);

  const std::array<std::uint64_t, 1> then{20};
  memory.set_snapshot(stack + 8, std::as_bytes(std::span(then)));
  EXPECT_EQ(memory.load<std::uint64_t>(stack), 1u);
  EXPECT_EQ(memory.load<std::uint64_t>(stack + 8), 20u);
  EXPECT_EQ(memory.load<std::uint64_t>(stack + 16), 3u);

  memory.clear_snapshot();
  EXPECT_EQ(memory.load<std::uint64_t>(stack + 8), 2u);
}

TEST(SnapshotMemory, AReadAcrossTheEndOfTheSnapshotFails) {
  testing::FakeMemory now;
  const Address stack = now.allocate(32);
  SnapshotMemory memory(now);
  const std::array<std::uint32_t, 1> then{20};
  memory.set_snapshot(stack, std::as_bytes(std::span(then)));
  EXPECT_FALSE(memory.load<std::uint64_t>(stack));
}

}  // namespace
}  // namespace nodescope
