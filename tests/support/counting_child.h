// A process of our own that works all the time, so that one can see whether it stands still.
#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace nodescope::testing {

// Counts in memory that we share with it.
class CountingChild {
 public:
  // With `is_stuck` it has another thread, which is in uninterruptible sleep: between vfork and exec of a
  // child that does not call exec.
  explicit CountingChild(bool is_stuck = false) {
    shared_ = static_cast<Shared*>(
        ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (is_stuck) std::thread(be_stuck, shared_).detach();
      for (;;) shared_->count.fetch_add(1, std::memory_order_relaxed);
    }
    wait_for_progress();
    while (is_stuck && shared_->stuck_tid == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ~CountingChild() {
    if (shared_->stuck_child != 0) ::kill(shared_->stuck_child, SIGKILL);
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    ::munmap(shared_, sizeof(Shared));
  }
  CountingChild(const CountingChild&) = delete;
  CountingChild& operator=(const CountingChild&) = delete;

  pid_t pid() const { return pid_; }
  pid_t stuck_tid() const { return shared_->stuck_tid; }
  std::uint64_t count() const { return shared_->count.load(std::memory_order_relaxed); }
  std::uint64_t counter_address() const { return reinterpret_cast<std::uintptr_t>(&shared_->count); }

  bool wait_for_progress() const {
    const std::uint64_t before = count();
    for (int i = 0; i < 5000 && count() == before; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return count() != before;
  }

  bool stands_still() const {
    const std::uint64_t before = count();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return count() == before;
  }

  // The stuck thread goes on.
  void free_stuck_thread() const { ::kill(shared_->stuck_child, SIGKILL); }

 private:
  struct Shared {
    std::atomic<std::uint64_t> count;
    std::atomic<pid_t> stuck_tid;
    std::atomic<pid_t> stuck_child;
  };

  static void be_stuck(Shared* shared) {
    const pid_t tid = ::gettid();
    // The child borrows this stack: it does nothing else.
    if (::vfork() == 0) {  // NOLINT(clang-analyzer-security.insecureAPI.vfork)
      shared->stuck_child = ::getpid();
      shared->stuck_tid = tid;
      for (;;) ::pause();
    }
    for (;;) ::pause();
  }

  pid_t pid_ = 0;
  Shared* shared_ = nullptr;
};

}  // namespace nodescope::testing
