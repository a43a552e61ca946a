#include "capture/off_cpu.h"

#include <gtest/gtest.h>

namespace nodescope {
namespace {

Wait wait_from(std::int64_t begin_ns, std::size_t stack) {
  return {begin_ns, 0, StackId{stack}, {ThreadId{1}, 0, EventId{}}, WaitReason::kLock};
}

TEST(WaitTracker, MakesWaitsOfLeavingAndComingBack) {
  WaitTracker waits;
  waits.leave(1, wait_from(100, 3));
  waits.leave(2, wait_from(110, 4));
  auto first = waits.come_back(2, 160);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->begin_ns, 110);
  EXPECT_EQ(first->duration_ns, 50);
  EXPECT_EQ(first->stack, StackId{4});
  waits.preempted(1);
  waits.preempted(7);
  EXPECT_EQ(waits.come_back(1, 101)->reason, WaitReason::kNoCpu);
  EXPECT_FALSE(waits.come_back(1, 200));
  EXPECT_EQ(waits.without_begin(), 1u);
}

TEST(WaitTracker, EndsWhatStillLasts) {
  WaitTracker waits;
  waits.leave(1, wait_from(200, 3));
  waits.leave(2, wait_from(100, 4));
  const auto last = waits.end(1000);
  ASSERT_EQ(last.size(), 2u);
  EXPECT_EQ(last[0].duration_ns, 900);
  EXPECT_EQ(last[1].duration_ns, 800);
  EXPECT_TRUE(waits.end(2000).empty());
  // A clock that goes backwards.
  waits.leave(1, wait_from(200, 3));
  EXPECT_FALSE(waits.come_back(1, 199));
  waits.leave(1, wait_from(200, 3));
  EXPECT_EQ(waits.end(100)[0].duration_ns, 0);
}

TEST(WaitReason, IsToldByTheKernelsFunctions) {
  const auto reason = [](std::vector<std::string_view> functions) { return wait_reason_of(functions); };
  EXPECT_EQ(reason({"__schedule", "schedule", "schedule_hrtimeout_range", "ep_poll", "do_epoll_wait"}),
            WaitReason::kEventLoop);
  EXPECT_EQ(reason({"schedule", "futex_do_wait", "__futex_wait", "do_futex"}), WaitReason::kLock);
  EXPECT_EQ(reason({"schedule", "anon_pipe_read", "vfs_read"}), WaitReason::kPipe);
  EXPECT_EQ(reason({"schedule", "do_wait", "kernel_wait4"}), WaitReason::kChild);
  EXPECT_EQ(reason({"schedule", "io_schedule", "folio_wait_bit_common", "filemap_read"}), WaitReason::kDisk);
  EXPECT_EQ(reason({"schedule", "something"}), WaitReason::kUnknown);
  EXPECT_EQ(reason({}), WaitReason::kUnknown);
  EXPECT_EQ(to_frame(WaitReason::kMemory), "[waits for memory]");
  EXPECT_EQ(to_frame(WaitReason::kName), "[waits for DNS]");
  EXPECT_EQ(to_frame(WaitReason::kUnknown), "[waits]");
  EXPECT_EQ(reason_of_events("node::SyncProcessRunner::Run"), WaitReason::kChild);
  EXPECT_EQ(reason_of_events("uv__getaddrinfo_work"), WaitReason::kName);
  EXPECT_EQ(reason_of_events("uv__io_poll"), std::nullopt);
}

}  // namespace
}  // namespace nodescope
