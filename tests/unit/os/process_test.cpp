#include "os/process.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace nodescope {
namespace {

std::optional<int> wait_for_exit_code(pid_t pid) {
  for (int i = 0; i < 6000; ++i) {
    if (const auto code = take_exit_code(pid)) return code;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return std::nullopt;
}

TEST(StartDetached, TellsOnceHowTheProgramEnded) {
  const auto pid = start_detached({"sh", "-c", "exit 3"});
  ASSERT_TRUE(pid) << pid.error().message;
  EXPECT_EQ(wait_for_exit_code(*pid), 3);
  EXPECT_EQ(take_exit_code(*pid), std::nullopt);
  const auto killed = start_detached({"sh", "-c", "kill -TERM $$"});
  ASSERT_TRUE(killed);
  EXPECT_EQ(wait_for_exit_code(*killed), 128 + 15);
  EXPECT_FALSE(start_detached({"/no/such/program"}));
}

}  // namespace
}  // namespace nodescope
