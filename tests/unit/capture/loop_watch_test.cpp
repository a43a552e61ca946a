#include "capture/loop_watch.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

namespace nodescope {
namespace {

// This process has no event loop of libuv: the watching thread finds that out while others ask it.
TEST(LoopWatch, SaysOnceThatThereIsNoLoopWhileItIsAsked) {
  LoopWatch watch({.distance = std::chrono::microseconds(100)});
  watch.watch(getpid());
  std::jthread asker([&watch](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      EXPECT_TRUE(watch.take_turns().empty());
      EXPECT_TRUE(watch.take_status().empty());
      EXPECT_TRUE(watch.take_found().empty());
      EXPECT_EQ(watch.loops_seen(), 0u);
    }
  });
  Diagnostics told;
  while (told.count(kNoLoops) == 0) {
    told.merge(watch.take_diagnostics());
    std::this_thread::yield();
  }
  EXPECT_EQ(told.count(kNoLoops), 1u);
}

TEST(LoopWatch, EndsWhileItWatches) {
  for (int i = 0; i < 20; ++i) {
    LoopWatch watch({.distance = std::chrono::microseconds(50)});
    watch.watch(getpid());
  }
}

}  // namespace
}  // namespace nodescope
