#include "os/ptrace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "os/stop_helper.h"

namespace nodescope {

namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// What the helper may take beyond the deadline, on a machine that is busy.  It can also be stuck, in the lock
// that the kernel holds while a thread of the process is inside of execve.
constexpr milliseconds kHelperDelay{1000};
constexpr milliseconds kReleaseDelay{1000};

std::unexpected<Error> refused(int number, pid_t pid) {
  std::string message = fmt::format("stopping process {}", pid);
  if (number == ESRCH) return fail(ErrorCode::kNotFound, fmt::format("process {} has ended", pid));
  if (number != EPERM) return fail_errno(number, message);
  return fail(
      ErrorCode::kPermission,
      message +
          ": not permitted; run as its user or as root (CAP_SYS_PTRACE), with kernel.yama.ptrace_scope=0 for "
          "a user's own processes, and make sure that no debugger is attached");
}

// False: it did not come before `end`, or never will.
bool receive_bytes(int channel, std::span<std::byte> into, Clock::time_point end) {
  while (!into.empty()) {
    const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now()).count();
    pollfd event{channel, POLLIN, 0};
    const int ready = ::poll(&event, 1, static_cast<int>(std::max<std::int64_t>(left, 0)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const ssize_t count = ::read(channel, into.data(), into.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    into = into.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

template <typename T>
bool receive(int channel, std::span<T> into, Clock::time_point end) {
  return receive_bytes(channel, std::as_writable_bytes(into), end);
}

}  // namespace

StoppedProcess::StoppedProcess(StoppedProcess&& other) noexcept
    : helper_(std::exchange(other.helper_, 0)),
      channel_(std::move(other.channel_)),
      threads_(std::move(other.threads_)),
      not_stopped_(std::move(other.not_stopped_)),
      resumed_(other.resumed_) {}

StoppedProcess::~StoppedProcess() {
  resume();
}

Result<StoppedProcess> StoppedProcess::stop(pid_t pid, const StopOptions& options) {
  const std::string attempt = fmt::format("stopping process {}", pid);
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return fail_errno(errno, attempt);
  FileDescriptor own_end(ends[0]);
  const FileDescriptor other_end(ends[1]);
  const FileDescriptor self(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  const FileDescriptor status(::open("/proc/self/stat", O_RDONLY | O_CLOEXEC));
  if (!status.is_open()) return fail_errno(errno, attempt);
  const pid_t helper = ::fork();
  if (helper < 0) return fail_errno(errno, attempt);
  if (helper == 0) {
    own_end = FileDescriptor();  // its end is ours alone: it closes when we end
    run_stop_helper({pid, options, other_end.get(), self.get(), status.get()});
  }
  StoppedProcess process(helper, std::move(own_end));
  if (auto received = process.receive_threads(pid, options); !received) {
    process.end_helper();
    return std::unexpected(received.error());
  }
  return process;
}

Result<void> StoppedProcess::receive_threads(pid_t pid, const StopOptions& options) {
  const auto end = Clock::now() + options.deadline + kHelperDelay;
  StopReport report;
  bool received = receive(channel_.get(), std::span(&report, 1), end);
  if (received && report.outcome == StopReport::Outcome::kStopped) {
    threads_.resize(report.stopped);
    not_stopped_.resize(report.not_stopped);
    received = receive(channel_.get(), std::span(threads_), end) &&
               receive(channel_.get(), std::span(not_stopped_), end);
  }
  if (!received) {
    return fail(ErrorCode::kLimit,
                fmt::format("process {} could not be stopped in time; it goes on as before", pid));
  }
  if (report.outcome == StopReport::Outcome::kSystemError) return refused(report.error_number, pid);
  if (report.outcome == StopReport::Outcome::kTooManyThreads) {
    return fail(ErrorCode::kLimit,
                fmt::format("stopping process {}: it starts threads faster than they stop", pid));
  }
  return {};
}

bool StoppedProcess::is_held() const {
  if (helper_ == 0) return false;
  pollfd event{channel_.get(), POLLIN, 0};
  return ::poll(&event, 1, 0) == 0;  // the helper says something only when it has let go, or has ended
}

Resumed StoppedProcess::resume() {
  if (helper_ == 0) return resumed_;
  const char go = 1;
  [[maybe_unused]] const ssize_t sent = ::send(channel_.get(), &go, sizeof go, MSG_NOSIGNAL);
  const bool known = receive(channel_.get(), std::span(&resumed_, 1), Clock::now() + kReleaseDelay);
  // Somebody killed the helper: the process has gone on since then.
  if (!known) resumed_.was_cut_short = true;
  end_helper();
  return resumed_;
}

// Waits for it only as long as an end can take.
void StoppedProcess::end_helper() {
  constexpr auto kStep = std::chrono::microseconds(200);
  const auto give_up = Clock::now() + kReleaseDelay;
  const pid_t helper = std::exchange(helper_, 0);
  ::kill(helper, SIGKILL);
  while (::waitpid(helper, nullptr, WNOHANG) == 0 && Clock::now() < give_up)
    std::this_thread::sleep_for(kStep);
}

}  // namespace nodescope
