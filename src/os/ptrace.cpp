#include "os/ptrace.h"

#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <optional>
#include <span>
#include <utility>

#include "os/file.h"
#include "os/procfs.h"

namespace nodescope {

namespace {

// New threads can appear while we stop the others.  Each round stops all that exist, so a process that still
// has new ones after this many makes threads faster than anyone can stop them.
constexpr int kMaxRounds = 64;

std::uint64_t now_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(time.tv_nsec);
}

std::unexpected<Error> refused(int number, pid_t pid) {
  std::string message = fmt::format("stopping process {}", pid);
  if (number != EPERM) return fail_errno(number, message);
  return fail(
      ErrorCode::kPermission,
      message +
          ": not permitted; run as its user or as root (CAP_SYS_PTRACE), with kernel.yama.ptrace_scope=0 for "
          "a user's own processes, and make sure that no debugger is attached");
}

// Waits until the thread stands still and gives the signal that it was about to receive, 0 for none. Nothing:
// it has ended.
std::optional<int> wait_until_stopped(pid_t tid) {
  for (;;) {
    int status = 0;
    const pid_t waited = ::waitpid(tid, &status, __WALL);
    if (waited < 0 && errno == EINTR) continue;
    if (waited != tid || !WIFSTOPPED(status)) return std::nullopt;
    return (status >> 16) == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
  }
}

ThreadRegisters registers_of(const user_regs_struct& raw) {
  ThreadRegisters registers;
  registers.rax = raw.rax;
  registers.rdx = raw.rdx;
  registers.rcx = raw.rcx;
  registers.rbx = raw.rbx;
  registers.rsi = raw.rsi;
  registers.rdi = raw.rdi;
  registers.rbp = raw.rbp;
  registers.rsp = raw.rsp;
  registers.r8 = raw.r8;
  registers.r9 = raw.r9;
  registers.r10 = raw.r10;
  registers.r11 = raw.r11;
  registers.r12 = raw.r12;
  registers.r13 = raw.r13;
  registers.r14 = raw.r14;
  registers.r15 = raw.r15;
  registers.rip = raw.rip;
  registers.fs_base = raw.fs_base;
  return registers;
}

}  // namespace

// The signals that end us are held back, so that the process is let go in order.
StoppedProcess::StoppedProcess() {
  sigset_t signals{};
  ::sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&signals, number);
  ::pthread_sigmask(SIG_BLOCK, &signals, &blocked_before_);
}

StoppedProcess::StoppedProcess(StoppedProcess&& other) noexcept
    : threads_(std::move(other.threads_)),
      seized_(std::move(other.seized_)),
      stopped_since_ns_(other.stopped_since_ns_),
      blocked_before_(other.blocked_before_),
      active_(std::exchange(other.active_, false)) {}

StoppedProcess::~StoppedProcess() {
  detach();
}

void StoppedProcess::detach() {
  if (!std::exchange(active_, false)) return;
  for (const Seized& thread : seized_) {
    // A thread that was caught on the way to a signal gets it now: 0 would swallow it.
    ::ptrace(PTRACE_DETACH, thread.tid, nullptr, static_cast<std::intptr_t>(thread.pending_signal));
  }
  ::pthread_sigmask(SIG_SETMASK, &blocked_before_, nullptr);
}

std::uint64_t StoppedProcess::resume_ns() {
  detach();
  return stopped_since_ns_ == 0 ? 0 : now_ns() - stopped_since_ns_;
}

// True: there were new threads, so there may be more.
Result<bool> StoppedProcess::seize_new(pid_t pid) {
  const auto tids = list_threads(pid);
  if (!tids) return std::unexpected(tids.error());
  const std::size_t known = seized_.size();
  for (const pid_t tid : *tids) {
    if (std::ranges::find(seized_, tid, &Seized::tid) != seized_.end()) continue;
    if (::ptrace(PTRACE_SEIZE, tid, nullptr, nullptr) != 0) {
      if (errno == ESRCH) continue;  // ended meanwhile
      return refused(errno, pid);
    }
    seized_.push_back({tid, 0});
    if (stopped_since_ns_ == 0) stopped_since_ns_ = now_ns();
    ::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr);
  }
  for (Seized& thread : std::span(seized_).subspan(known)) {
    const auto signal = wait_until_stopped(thread.tid);
    if (!signal) continue;
    thread.pending_signal = *signal;
    user_regs_struct raw{};
    if (::ptrace(PTRACE_GETREGS, thread.tid, nullptr, &raw) == 0)
      threads_.push_back({thread.tid, registers_of(raw)});
  }
  return seized_.size() > known;
}

Result<void> StoppedProcess::seize_all(pid_t pid) {
  for (int round = 0; round < kMaxRounds; ++round) {
    const auto more = seize_new(pid);
    if (!more) return std::unexpected(more.error());
    if (!*more) return {};
  }
  return fail(ErrorCode::kLimit,
              fmt::format("stopping process {}: it starts threads faster than they stop", pid));
}

Result<StoppedProcess> StoppedProcess::stop(pid_t pid) {
  StoppedProcess process;
  if (auto seized = process.seize_all(pid); !seized) return std::unexpected(seized.error());
  if (process.threads_.empty()) return fail(ErrorCode::kNotFound, fmt::format("process {} has ended", pid));
  std::ranges::sort(process.threads_, {}, &StoppedThread::tid);
  return process;
}

}  // namespace nodescope
