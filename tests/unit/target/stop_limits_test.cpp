// A stop never keeps a process from working for longer than it should, whatever happens to us meanwhile.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <vector>

#include "os/ptrace.h"
#include "support/counting_child.h"

namespace nodescope {
namespace {

using testing::CountingChild;

TEST(StopLimits, AThreadInUninterruptibleSleepIsNotWaitedFor) {
  const CountingChild child(true);
  {
    auto stopped = StoppedProcess::stop(child.pid(), {.deadline = std::chrono::milliseconds(500)});
    ASSERT_TRUE(stopped) << stopped.error().message;
    EXPECT_EQ(stopped->not_stopped(), std::vector<pid_t>{child.stuck_tid()});
    EXPECT_FALSE(stopped->threads().empty());
    EXPECT_TRUE(child.stands_still());
    EXPECT_TRUE(stopped->is_held());
    EXPECT_FALSE(stopped->resume().was_cut_short);
  }
  EXPECT_TRUE(child.wait_for_progress());
  // It goes on too when its sleep is over, and was not left waiting for a tracer.
  child.free_stuck_thread();
  auto again = StoppedProcess::stop(child.pid(), {.deadline = std::chrono::seconds(10)});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->not_stopped().empty());
}

TEST(StopLimits, TheTimeIsBounded) {
  const CountingChild child;
  auto stopped = StoppedProcess::stop(child.pid(), {.longest = std::chrono::milliseconds(30)});
  ASSERT_TRUE(stopped) << stopped.error().message;
  EXPECT_TRUE(child.wait_for_progress());
  EXPECT_FALSE(stopped->is_held());
  EXPECT_TRUE(stopped->resume().was_cut_short);
}

// Stops `child` in a process of its own, which then gets `signal`.
pid_t stop_and_get(const CountingChild& child, int signal) {
  const pid_t stopper = ::fork();
  if (stopper != 0) return stopper;
  ::setpgid(0, 0);  // nothing stops in a process group that no shell looks after, which ours may be
  ::signal(signal, SIG_DFL);
  const auto stopped = StoppedProcess::stop(child.pid(), {.longest = std::chrono::minutes(10)});
  ::raise(signal);
  for (;;) ::pause();
}

class StopSignals : public ::testing::TestWithParam<int> {};

TEST_P(StopSignals, LetTheProcessGoOn) {
  const CountingChild child;
  const pid_t stopper = stop_and_get(child, GetParam());
  int status = 0;
  ASSERT_EQ(::waitpid(stopper, &status, WUNTRACED), stopper);
  EXPECT_TRUE(WIFSTOPPED(status) || WIFSIGNALED(status));
  EXPECT_TRUE(child.wait_for_progress());
  ::kill(stopper, SIGKILL);
  ::waitpid(stopper, nullptr, 0);
  // Nobody is left who traces it.
  EXPECT_TRUE(StoppedProcess::stop(child.pid()));
}

INSTANTIATE_TEST_SUITE_P(All, StopSignals,
                         ::testing::Values(SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGKILL, SIGTSTP, SIGSTOP));

}  // namespace
}  // namespace nodescope
