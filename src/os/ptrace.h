#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "os/file.h"

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

struct StopOptions {
  // How long the threads of the process have to stop.  A thread that runs does so within microseconds; one in
  // uninterruptible sleep (vfork, a disk, NFS) only when that is over, and nothing waits for it.
  std::chrono::milliseconds deadline{50};
  // After this time the process goes on, whatever we are doing.
  std::chrono::milliseconds longest{5000};
};

// How a stop ended.
struct Resumed {
  std::uint64_t stopped_ns = 0;  // from the first thread's stop on
  // The process went on before resume(): `longest` was over, or we were stopped ourselves (SIGTSTP, SIGSTOP).
  // What was read meanwhile may be of different moments.
  bool was_cut_short = false;
};

// A process whose threads stand still for as long as this object lives.  Nothing is written to the process,
// no signal is delivered or lost.
//
// A helper process holds it and lets it go on as soon as resume() is called, we end or are stopped, or the
// time is over; if the helper is killed, the kernel lets the process go on.  So signals need not wait.
class StoppedProcess {
 public:
  static Result<StoppedProcess> stop(pid_t pid, const StopOptions& options = {});
  StoppedProcess(StoppedProcess&& other) noexcept;
  StoppedProcess& operator=(StoppedProcess&&) = delete;
  ~StoppedProcess();

  // Those that stopped within the deadline, by tid.
  const std::vector<StoppedThread>& threads() const { return threads_; }
  // Those that did not, by tid.  They are in the kernel; they do not come back to user code while the process
  // is held.
  const std::vector<pid_t>& not_stopped() const { return not_stopped_; }

  // False once the process has gone on.
  bool is_held() const;

  // Lets the process go on.
  Resumed resume();
  // After that.
  bool was_cut_short() const { return resumed_.was_cut_short; }

 private:
  StoppedProcess(pid_t helper, FileDescriptor channel) : helper_(helper), channel_(std::move(channel)) {}

  Result<void> receive_threads(pid_t pid, const StopOptions& options);
  void end_helper();

  pid_t helper_;  // 0: nothing is held any more
  FileDescriptor channel_;
  std::vector<StoppedThread> threads_;
  std::vector<pid_t> not_stopped_;
  Resumed resumed_;
};

}  // namespace nodescope
