#include "target/live_memory.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

namespace nodescope {
namespace {

constexpr std::size_t kPageBytes = 4096;

// Two pages of this process.
class LiveMemoryTest : public testing::Test {
 protected:
  LiveMemoryTest()
      : pages_(static_cast<std::byte*>(
            ::mmap(nullptr, 2 * kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {}
  ~LiveMemoryTest() override { ::munmap(pages_, 2 * kPageBytes); }

  Address address(std::size_t page) const {
    return Address{reinterpret_cast<std::uint64_t>(pages_) + page * kPageBytes};
  }
  void put(std::size_t page, std::uint64_t value) {
    std::memcpy(pages_ + page * kPageBytes, &value, sizeof value);
  }
  std::optional<std::uint64_t> get(std::size_t page) { return memory_.load<std::uint64_t>(address(page)); }

  std::byte* pages_;
  LiveMemory memory_{::getpid()};
};

TEST_F(LiveMemoryTest, IsWhatItWasUntilItIsForgotten) {
  put(0, 1);
  EXPECT_EQ(get(0), 1u);
  put(0, 2);
  EXPECT_EQ(get(0), 1u);
  memory_.forget();
  put(0, 3);
  EXPECT_EQ(get(0), 3u);
}

TEST_F(LiveMemoryTest, WhatIsCopiedTogetherIsOfOneMoment) {
  put(0, 1);
  put(1, 1);
  EXPECT_EQ(get(0), 1u);
  EXPECT_EQ(get(1), 1u);
  memory_.forget();
  put(0, 2);
  put(1, 2);
  EXPECT_EQ(get(0), 2u);  // with page 1, which was needed before
  put(1, 3);
  EXPECT_EQ(get(1), 2u);
  memory_.forget();
  memory_.forget();
  EXPECT_EQ(get(1), 3u);
}

TEST_F(LiveMemoryTest, APageThatIsGoneDoesNotSpoilTheOthers) {
  put(0, 1);
  EXPECT_EQ(get(0), 1u);
  EXPECT_TRUE(get(1));
  memory_.forget();
  ASSERT_EQ(::mprotect(pages_ + kPageBytes, kPageBytes, PROT_NONE), 0);
  put(0, 2);
  EXPECT_EQ(get(0), 2u);
  EXPECT_FALSE(get(1));
}

TEST_F(LiveMemoryTest, OfAProcessThatHasEndedTheLastPagesAreLeft) {
  put(0, 7);
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) ::pause();
  }
  LiveMemory memory(child);
  EXPECT_EQ(memory.load<std::uint64_t>(address(0)), 7u);
  EXPECT_FALSE(memory.is_gone());
  memory.forget();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(memory.load<std::uint64_t>(address(1)), std::nullopt) << "never read";
  EXPECT_TRUE(memory.is_gone());
  EXPECT_EQ(memory.load<std::uint64_t>(address(0)), 7u);
  memory.forget();
  memory.forget();
  EXPECT_EQ(memory.load<std::uint64_t>(address(0)), 7u);
}

// Nor is it gone when an address cannot be read.
TEST_F(LiveMemoryTest, AProcessThatIsThereIsNotGone) {
  EXPECT_EQ(memory_.load<std::uint64_t>(Address{0x1000}), std::nullopt);
  EXPECT_FALSE(memory_.is_gone());
}

}  // namespace
}  // namespace nodescope
