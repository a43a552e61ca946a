#include "capture/pool_tracker.h"

#include <gtest/gtest.h>

namespace nodescope {
namespace {

constexpr std::uint64_t kMs = 1'000'000;

PoolState state(std::uint32_t idle, std::size_t queued, const std::string& work = "crypto.pbkdf2") {
  PoolState state{.threads = 4, .idle = idle, .has_queue = queued != 0, .queued = queued};
  if (queued != 0) state.work[work] = queued;
  return state;
}

TEST(PoolTracker, KnowsWhenThePoolIsFull) {
  PoolTracker tracker(4120, 10 * kMs);
  tracker.add(100 * kMs, state(4, 0));
  tracker.add(105 * kMs, state(0, 20));
  tracker.add(110 * kMs, state(0, 23));
  tracker.add(200 * kMs, state(0, 2, "dns.lookup"));
  tracker.add(205 * kMs, state(0, 0));
  EXPECT_EQ(tracker.take(),
            (std::vector<FullPool>{{4120, 105 * kMs, 200 * kMs, 4, 23, false, "crypto.pbkdf2"}}));
  EXPECT_TRUE(tracker.take().empty());
}

TEST(PoolTracker, LeavesOutShortTimes) {
  PoolTracker tracker(1, 10 * kMs);
  for (std::uint64_t time = 0; time < 100; time += 10) {
    tracker.add(time * kMs, state(0, 3));
    tracker.add((time + 5) * kMs, state(1, 0));
  }
  EXPECT_TRUE(tracker.take().empty());
}

// Busy is not full: nobody waits.  A thread that is idle takes what is queued at once.
TEST(PoolTracker, IsNotFullWhileNobodyWaits) {
  PoolTracker tracker(1, 0);
  tracker.add(5 * kMs, state(0, 0));
  tracker.add(10 * kMs, state(1, 2));
  tracker.add(15 * kMs, PoolState{});
  tracker.end();
  EXPECT_TRUE(tracker.take().empty());
}

TEST(PoolTracker, LeavesOutAQueueThatHeldNoRequest) {
  PoolTracker tracker(1, 10 * kMs);
  PoolState state{.threads = 4, .idle = 0, .has_queue = true};
  tracker.add(0, state);
  tracker.add(50 * kMs, state);
  tracker.end();
  EXPECT_TRUE(tracker.take().empty());
}

TEST(PoolTracker, TellsOfWhatLastsAtTheEnd) {
  PoolTracker tracker(1, 10 * kMs);
  tracker.add(5 * kMs, state(0, 1));
  tracker.add(50 * kMs, state(0, 1));
  EXPECT_TRUE(tracker.take().empty());
  tracker.end();
  const auto full = tracker.take();
  ASSERT_EQ(full.size(), 1u);
  EXPECT_EQ(full[0].duration_ns(), 45 * kMs);
  EXPECT_EQ(describe(full[0]),
            "libuv's pool is full: 4 threads, up to 1 request waits, most for crypto.pbkdf2");
}

}  // namespace
}  // namespace nodescope
