#include "os/stop_helper.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "os/procfs.h"

namespace nodescope {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// New threads can appear while we stop the others.  Each round stops all that exist, so a process that still
// has new ones after this many makes threads faster than anyone can stop them.
constexpr int kMaxRounds = 64;

// What new threads of a later round have at least, when the first used up the deadline.
constexpr milliseconds kLaterRound{10};

// How often we look whether the asker was stopped itself.
constexpr milliseconds kLookInterval{20};

nanoseconds now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return std::chrono::seconds(time.tv_sec) + nanoseconds(time.tv_nsec);
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

// The channel's other end is gone only when the asker is: then nobody wants to know.
template <typename T>
void send(int channel, std::span<const T> items) {
  auto bytes = std::as_bytes(items);
  while (!bytes.empty()) {
    const ssize_t count = ::write(channel, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

// The threads of one process, as their tracer sees them.  A tracer that ends lets all of them go on, also
// those that it could not stop: nothing else can.
class Tracer {
 public:
  explicit Tracer(const StopRequest& request) : request_(request) {}

  StopReport stop() {
    const nanoseconds deadline = now() + request_.options.deadline;
    for (int round = 0; round < kMaxRounds; ++round) {
      const std::size_t known = seized_.size();
      if (const int number = seize_new(); number != 0) {
        // That the process ended meanwhile is what the caller should hear; what else went wrong, too.
        return {StopReport::Outcome::kSystemError, number};
      }
      if (seized_.size() == known) return count();
      const nanoseconds until = round == 0 ? deadline : std::max<nanoseconds>(deadline, now() + kLaterRound);
      while (!settle() && now() < until) wait_for_change(until - now());
    }
    return {StopReport::Outcome::kTooManyThreads};
  }

  void report_threads() const {
    std::vector<StoppedThread> stopped;
    std::vector<pid_t> not_stopped;
    for (const Seized& thread : seized_) {
      if (thread.registers) stopped.push_back({thread.tid, *thread.registers});
      if (thread.state == State::kRunning) not_stopped.push_back(thread.tid);
    }
    std::ranges::sort(stopped, {}, &StoppedThread::tid);
    std::ranges::sort(not_stopped);
    send(request_.channel, std::span<const StoppedThread>(stopped));
    send(request_.channel, std::span<const pid_t>(not_stopped));
  }

  std::uint64_t held_ns() const {
    const nanoseconds held = stopped_since_ == nanoseconds() ? nanoseconds() : now() - stopped_since_;
    return static_cast<std::uint64_t>(held.count());
  }

  void detach() {
    settle();  // a thread that has stopped since then may have a signal too
    for (const Seized& thread : seized_) {
      if (thread.state != State::kStopped) continue;
      // A thread that was caught on the way to a signal gets it now: 0 would swallow it.
      ::ptrace(PTRACE_DETACH, thread.tid, nullptr, static_cast<std::intptr_t>(thread.pending_signal));
    }
  }

 private:
  enum class State : std::uint8_t { kRunning, kStopped, kEnded };

  struct Seized {
    pid_t tid = 0;
    State state = State::kRunning;
    int pending_signal = 0;
    std::optional<ThreadRegisters> registers;
  };

  // 0, or errno.
  int seize_new() {
    const auto tids = list_threads(request_.pid);
    if (!tids) return ESRCH;
    for (const pid_t tid : *tids) {
      if (std::ranges::find(seized_, tid, &Seized::tid) != seized_.end()) continue;
      if (::ptrace(PTRACE_SEIZE, tid, nullptr, nullptr) != 0) {
        if (errno == ESRCH) continue;  // ended meanwhile
        return errno;
      }
      seized_.emplace_back().tid = tid;
      if (stopped_since_ == nanoseconds()) stopped_since_ = now();
      ::ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr);
    }
    return 0;
  }

  // Looks at those that have not stopped yet.  True: none is left.
  bool settle() {
    bool all = true;
    for (Seized& thread : seized_) {
      if (thread.state != State::kRunning) continue;
      int status = 0;
      const pid_t waited = ::waitpid(thread.tid, &status, __WALL | WNOHANG);
      if (waited == 0) {
        all = false;
      } else if (waited < 0 || !WIFSTOPPED(status)) {
        thread.state = State::kEnded;
      } else {
        note_stop(thread, status);
      }
    }
    return all;
  }

  static void note_stop(Seized& thread, int status) {
    thread.state = State::kStopped;
    thread.pending_signal = (status >> 16) == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
    user_regs_struct raw{};
    if (::ptrace(PTRACE_GETREGS, thread.tid, nullptr, &raw) == 0) thread.registers = registers_of(raw);
  }

  // Until a thread stops; SIGCHLD is blocked, and so waits for us.
  static void wait_for_change(nanoseconds time) {
    sigset_t child{};
    ::sigemptyset(&child);
    ::sigaddset(&child, SIGCHLD);
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
    const timespec limit{seconds.count(), (time - seconds).count()};
    if (time > nanoseconds()) ::sigtimedwait(&child, nullptr, &limit);
  }

  StopReport count() const {
    StopReport report;
    for (const Seized& thread : seized_) {
      if (thread.registers) ++report.stopped;
      if (thread.state == State::kRunning) ++report.not_stopped;
    }
    if (report.stopped == 0 && report.not_stopped == 0) return {StopReport::Outcome::kSystemError, ESRCH};
    return report;
  }

  const StopRequest& request_;
  std::vector<Seized> seized_;
  nanoseconds stopped_since_{};
};

// By a signal, as Ctrl-Z sends it.
bool is_stopped(int status_file) {
  std::array<char, 512> text{};
  const ssize_t count = ::pread(status_file, text.data(), text.size(), 0);
  const std::string_view stat(text.data(), count > 0 ? static_cast<std::size_t>(count) : 0);
  const std::size_t name_end = stat.rfind(") ");
  return name_end != std::string_view::npos && stat.substr(name_end + 2).starts_with('T');
}

// False: the asker did not say that the process may go on, and it has to.
bool wait_until_asked(const StopRequest& request) {
  const nanoseconds end = now() + request.options.longest;
  for (;;) {
    const auto left = std::chrono::duration_cast<milliseconds>(end - now());
    if (left <= milliseconds()) return false;
    std::array<pollfd, 2> events = {pollfd{request.channel, POLLIN, 0}, pollfd{request.asker, POLLIN, 0}};
    const int changed =
        ::poll(events.data(), events.size(), static_cast<int>(std::min(left, kLookInterval).count()));
    if (changed > 0) return true;  // a byte, the channel's end, or the asker's
    if (is_stopped(request.asker_status)) return false;
  }
}

// What a terminal and a shell send is meant for the asker.
void become_independent() {
  ::setsid();
  ::prctl(PR_SET_NAME, "nodescope-stop");
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGBUS, SIGQUIT, SIGXFSZ, SIGABRT, SIGALRM})
    std::signal(number, SIG_DFL);
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t child{};
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  ::sigprocmask(SIG_SETMASK, &child, nullptr);
}

// Whatever call of the kernel we should get stuck in, such as the lock that it holds while a thread of the
// process is inside of execve: our end is what lets the process go on.
void bound_own_life(const StopRequest& request) {
  constexpr std::chrono::seconds kRounds{2};
  const auto most = request.options.deadline + request.options.longest + kRounds;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(most);
  const auto rest = std::chrono::duration_cast<std::chrono::microseconds>(most - seconds);
  const itimerval life{{}, {seconds.count(), rest.count()}};
  ::setitimer(ITIMER_REAL, &life, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // An asker that is stopped reads nothing.
  constexpr timeval kPatience{1, 0};
  ::setsockopt(request.channel, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
}

}  // namespace

void run_stop_helper(const StopRequest& request) {
  become_independent();
  bound_own_life(request);
  Tracer tracer(request);
  const StopReport report = tracer.stop();
  send(request.channel, std::span<const StopReport>(&report, 1));
  if (report.outcome == StopReport::Outcome::kStopped) {
    tracer.report_threads();
    const bool is_asked = wait_until_asked(request);
    if (is_asked) tracer.detach();
    const Resumed resumed{tracer.held_ns(), !is_asked};
    // Said before it goes on by itself: nobody may believe that it is held when it is not.
    send(request.channel, std::span<const Resumed>(&resumed, 1));
    if (!is_asked) tracer.detach();
  } else {
    tracer.detach();
  }
  ::_exit(0);
}

}  // namespace nodescope
