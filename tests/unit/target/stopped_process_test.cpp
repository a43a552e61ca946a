// A real child process: stopped, read and let go.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include "os/ptrace.h"
#include "support/counting_child.h"
#include "support/sanitizers.h"
#include "target/live_memory.h"
#include "target/live_process.h"

namespace nodescope {
namespace {

using Child = testing::CountingChild;

TEST(StoppedProcess, StandsStillAndGoesOn) {
  const Child child;
  {
    auto stopped = StoppedProcess::stop(child.pid());
    ASSERT_TRUE(stopped) << stopped.error().message;
    ASSERT_EQ(stopped->threads().size(), testing::kHasThreadSanitizer ? 2u : 1u);
    EXPECT_EQ(stopped->threads()[0].tid, child.pid());
    EXPECT_NE(stopped->threads()[0].registers.rip, 0u);
    const std::uint64_t before = child.count();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(child.count(), before);
    LiveMemory memory(child.pid());
    EXPECT_EQ(memory.load<std::uint64_t>(Address{child.counter_address()}), before);
    const Resumed resumed = stopped->resume();
    EXPECT_GE(resumed.stopped_ns, 20'000'000u);
    EXPECT_FALSE(resumed.was_cut_short);
  }
  EXPECT_TRUE(child.wait_for_progress());
}

TEST(StoppedProcess, IsLetGoWithoutResume) {
  const Child child;
  {
    ASSERT_TRUE(StoppedProcess::stop(child.pid()));
  }
  EXPECT_TRUE(child.wait_for_progress());
}

TEST(StoppedProcess, NoSuchProcess) {
  const auto stopped = StoppedProcess::stop(0x3FFFFFFF);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::kNotFound);
}

TEST(LiveMemory, UnmappedMemoryIsAFailureNotACrash) {
  LiveMemory memory(::getpid());
  EXPECT_EQ(memory.load<std::uint64_t>(Address{0}), std::nullopt);
  EXPECT_EQ(memory.load<std::uint64_t>(Address{~std::uint64_t{0}}), std::nullopt);
  EXPECT_EQ(memory.load<std::uint64_t>(Address{(std::uint64_t{1} << 47) - 4}), std::nullopt);
}

TEST(LiveMemory, ReadsAcrossPagesAndKeepsThemUntilForgotten) {
  std::vector<std::byte> content(20000, std::byte{7});
  LiveMemory memory(::getpid());
  std::vector<std::byte> copy(content.size());
  const Address address{reinterpret_cast<std::uintptr_t>(content.data())};
  ASSERT_TRUE(memory.read(address, copy));
  EXPECT_EQ(copy, content);
  content[100] = std::byte{8};
  EXPECT_EQ(memory.load<std::uint8_t>(address + 100), 7);
  memory.forget();
  memory.prefetch(std::array{Range<Address>{address, address + 200}});
  EXPECT_EQ(memory.load<std::uint8_t>(address + 100), 8);
}

TEST(NodeBinary, ThisProgramIsNotNode) {
  const auto process = LiveProcess::open(::getpid());
  ASSERT_TRUE(process) << process.error().message;
  EXPECT_EQ((*process)->innermost_pid(), ::getpid());
  const auto binary = find_node_binary(**process);
  ASSERT_FALSE(binary);
  EXPECT_EQ(binary.error().code, ErrorCode::kUnsupported);
}

TEST(NodeBinary, NoSuchProcess) {
  const auto process = LiveProcess::open(0x3FFFFFFF);
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace nodescope
