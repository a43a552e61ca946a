#include "os/thread_times.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <string_view>

#include "base/text.h"

namespace nodescope {

SchedulerAccount::SchedulerAccount(pid_t pid, pid_t tid)
    : file_(::open(fmt::format("/proc/{}/task/{}/schedstat", pid, tid).c_str(), O_RDONLY | O_CLOEXEC)) {}

// "RUNNING RUNNABLE TIMESLICES\n"
std::optional<SchedulerAccount::Times> SchedulerAccount::read() const {
  std::array<char, 96> buffer{};
  if (!file_.is_open()) return std::nullopt;
  const ssize_t count = ::pread(file_.get(), buffer.data(), buffer.size(), 0);
  if (count <= 0) return std::nullopt;
  const std::string_view text(buffer.data(), static_cast<std::size_t>(count));
  const std::size_t first = text.find(' ');
  const std::size_t second = first == std::string_view::npos ? first : text.find(' ', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const auto running = parse_number<std::uint64_t>(text.substr(0, first));
  const auto runnable = parse_number<std::uint64_t>(text.substr(first + 1, second - first - 1));
  if (!running || !runnable) return std::nullopt;
  return Times{*running, *runnable};
}

void make_thread_prompt() {
  constexpr unsigned long kSlackNs = 1000;
  constexpr int kNice = -10;
  ::prctl(PR_SET_TIMERSLACK, kSlackNs, 0, 0, 0);
  // Of this thread alone, as Linux has it.  Refused to most users, who read a little later then.
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::syscall(SYS_gettid)), kNice);
}

}  // namespace nodescope
