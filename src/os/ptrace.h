#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "base/result.h"

namespace nodescope {

// The general registers of a stopped x86-64 thread.
struct ThreadRegisters {
  std::uint64_t rax = 0, rdx = 0, rcx = 0, rbx = 0, rsi = 0, rdi = 0, rbp = 0, rsp = 0;
  std::uint64_t r8 = 0, r9 = 0, r10 = 0, r11 = 0, r12 = 0, r13 = 0, r14 = 0, r15 = 0;
  std::uint64_t rip = 0;
  std::uint64_t fs_base = 0;

  bool operator==(const ThreadRegisters&) const = default;
};

struct StoppedThread {
  pid_t tid = 0;
  ThreadRegisters registers;
};

// A process whose threads all stand still for as long as this object lives.  Nothing is written to the
// process, no signal is delivered or lost.  If we are killed meanwhile, the kernel lets the process go on;
// SIGINT, SIGTERM and SIGHUP wait until the end of its life.
class StoppedProcess {
 public:
  static Result<StoppedProcess> stop(pid_t pid);
  StoppedProcess(StoppedProcess&& other) noexcept;
  StoppedProcess& operator=(StoppedProcess&&) = delete;
  ~StoppedProcess();

  const std::vector<StoppedThread>& threads() const { return threads_; }

  // Lets the process go on and says for how long it stood still: from the first thread's stop on.
  std::uint64_t resume_ns();

 private:
  struct Seized {
    pid_t tid = 0;
    int pending_signal = 0;
  };

  StoppedProcess();

  Result<void> seize_all(pid_t pid);
  Result<bool> seize_new(pid_t pid);
  void detach();

  std::vector<StoppedThread> threads_;
  std::vector<Seized> seized_;
  std::uint64_t stopped_since_ns_ = 0;
  sigset_t blocked_before_{};
  bool active_ = true;
};

}  // namespace nodescope
