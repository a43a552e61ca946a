// Files that change, or are held, while they are read; processes that end; signals that are ignored.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "os/file.h"
#include "os/interrupt.h"
#include "os/output_file.h"
#include "os/process.h"
#include "os/process_handle.h"

namespace nodescope {
namespace {

TEST(HostileFiles, WhatIsGoneFromAMappingReadsAsZeros) {
  install_signal_handlers();
  const auto folder = TemporaryFolder::create();
  ASSERT_TRUE(folder);
  const std::string path = folder->path() + "/a";
  std::ofstream(path) << std::string(100'000, 'x');
  auto source = open_regular_file(path);
  ASSERT_TRUE(source);
  const auto bytes = (*source)->mapped();
  ASSERT_TRUE(bytes);
  EXPECT_EQ((*bytes)[99'999], std::byte{'x'});
  std::filesystem::resize_file(path, 4096);
  EXPECT_EQ((*bytes)[4095], std::byte{'x'});
  EXPECT_EQ((*bytes)[50'000], std::byte{0});
  EXPECT_EQ((*bytes)[99'999], std::byte{0});
}

TEST(HostileFiles, ALeaseIsAnErrorAndNoDelay) {
  const auto folder = TemporaryFolder::create();
  ASSERT_TRUE(folder);
  const std::string path = folder->path() + "/a";
  std::ofstream(path) << "text";
  ::signal(SIGIO, SIG_IGN);
  const FileDescriptor held(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_EQ(::fcntl(held.get(), F_SETLEASE, F_WRLCK), 0);
  const auto source = open_regular_file(path);
  ASSERT_FALSE(source);
  EXPECT_NE(source.error().message.find("holds a lease"), std::string::npos);
  ::signal(SIGIO, SIG_DFL);
}

TEST(HostileFiles, DevicesFoldersAndFifosAreNotOpened) {
  const auto folder = TemporaryFolder::create();
  ASSERT_TRUE(folder);
  const std::string fifo = folder->path() + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string& path : {fifo, folder->path(), std::string("/dev/zero")})
    EXPECT_FALSE(open_regular_file(path)) << path;
}

TEST(ProcessHandle, TellsTheEndOfOneProcess) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (;;) ::pause();
  }
  const ProcessHandle handle(child);
  EXPECT_FALSE(handle.has_ended());
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(handle.has_ended());
  EXPECT_TRUE(ProcessHandle(0x3FFFFFFF).has_ended());
}

TEST(InterruptRequest, LeavesIgnoredSignalsIgnored) {
  ::signal(SIGHUP, SIG_IGN);
  {
    const InterruptRequest request;
    ::raise(SIGHUP);
    EXPECT_FALSE(request.requested());
    ::raise(SIGTERM);
    EXPECT_TRUE(request.requested());
    EXPECT_TRUE(InterruptRequest::any_requested());
  }
  ::signal(SIGHUP, SIG_DFL);
}

TEST(HeldProgram, DoesNotRunWhenItsStarterIsKilled) {
  const auto folder = TemporaryFolder::create();
  ASSERT_TRUE(folder);
  const std::string marker = folder->path() + "/ran";
  std::array<int, 2> pids{};
  ASSERT_EQ(::pipe(pids.data()), 0);
  const pid_t starter = ::fork();
  if (starter == 0) {
    const auto program = HeldProgram::start({"touch", marker});
    const pid_t held = program ? program->pid() : 0;
    if (::write(pids[1], &held, sizeof held) == sizeof held) ::raise(SIGKILL);
    ::_exit(1);
  }
  pid_t held = 0;
  ASSERT_EQ(::read(pids[0], &held, sizeof held), static_cast<ssize_t>(sizeof held));
  ASSERT_GT(held, 0);
  ::waitpid(starter, nullptr, 0);
  const ProcessHandle handle(held);
  for (int i = 0; i < 5000 && !handle.has_ended(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(handle.has_ended());
  EXPECT_FALSE(std::filesystem::exists(marker));
  ::close(pids[0]);
  ::close(pids[1]);
}

TEST(HeldProgram, RunsWhenItIsLetGo) {
  auto program = HeldProgram::start({"true"});
  ASSERT_TRUE(program);
  ASSERT_TRUE(program->let_go());
  while (!program->exit_code()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(program->exit_code(), 0);
}

}  // namespace
}  // namespace nodescope
