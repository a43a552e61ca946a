#include "os/privileges.h"

#include <linux/capability.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>
#include <string_view>

#include "base/byte_source.h"
#include "base/text.h"
#include "os/file.h"
#include "os/procfs.h"

namespace nodescope {

namespace {

// The text behind "\nNAME:\t" in /proc/self/status.
std::string_view status_field(std::string_view status, const std::string& name) {
  const std::string mark = "\n" + name + ":\t";
  const std::size_t at = status.find(mark);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = status.substr(at + mark.size());
  return rest.substr(0, rest.find('\n'));
}

// The first `limit` bytes of a small file.
std::string read_beginning(const std::string& path, std::size_t limit) {
  auto source = open_file(path);
  if (!source) return {};
  std::string text(limit, '\0');
  const auto count = (*source)->read(std::as_writable_bytes(std::span(text)));
  text.resize(count.value_or(0));
  return text;
}

}  // namespace

Privileges read_privileges() {
  Privileges privileges;
  privileges.user = ::geteuid();
  const std::string status = read_proc_file(own_pid(), "status").value_or("");
  privileges.capabilities = parse_hex(status_field(status, "CapEff")).value_or(0);
  privileges.has_seccomp_filter = status_field(status, "Seccomp") == "2";
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) == 0) privileges.lockable_bytes = limit.rlim_cur;
  return privileges;
}

void keep_capabilities(std::initializer_list<Capability> kept) {
  std::uint64_t set = 0;
  for (const Capability capability : kept) set |= std::uint64_t{1} << static_cast<unsigned>(capability);
  set &= read_privileges().capabilities;
  const auto low = static_cast<std::uint32_t>(set);
  const auto high = static_cast<std::uint32_t>(set >> 32);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> data = {__user_cap_data_struct{low, low, 0},
                                                __user_cap_data_struct{high, high, 0}};
  ::syscall(SYS_capset, &header, data.data());
}

std::optional<std::string> read_sysctl(const std::string& name) {
  constexpr std::size_t kMaxBytes = 256;
  std::string text = read_beginning("/proc/sys/" + name, kMaxBytes);
  if (text.empty()) return std::nullopt;
  return text.substr(0, text.find('\n'));
}

std::optional<std::int64_t> read_sysctl_number(const std::string& name) {
  const auto text = read_sysctl(name);
  return text ? parse_number<std::int64_t>(*text) : std::nullopt;
}

bool kernel_addresses_are_shown() {
  // Some symbols at the very beginning are at 0 even then.
  constexpr std::size_t kLooked = 16 * 1024;
  const std::string content = read_beginning("/proc/kallsyms", kLooked);
  std::string_view rest = content;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    if (parse_hex(rest.substr(0, rest.find(' '))).value_or(0) != 0) return true;
    rest.remove_prefix(std::min(rest.size(), end + 1));
  }
  return false;
}

int try_perf_event(PerfProbe probe) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_SOFTWARE;
  attributes.config = PERF_COUNT_SW_CPU_CLOCK;
  attributes.sample_period = 1'000'000;
  attributes.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
  attributes.disabled = 1;
  attributes.exclude_kernel = probe == PerfProbe::kOwnUser ? 1 : 0;
  attributes.exclude_hv = 1;
  const bool whole = probe == PerfProbe::kWholeMachine;
  const FileDescriptor fd(static_cast<int>(
      ::syscall(SYS_perf_event_open, &attributes, whole ? -1 : 0, whole ? 0 : -1, -1, PERF_FLAG_FD_CLOEXEC)));
  return fd.is_open() ? 0 : errno;
}

// Without attributes the kernel itself would say EFAULT, or EACCES where a security module is before it.
bool perf_is_filtered() {
  if (!read_privileges().has_seccomp_filter) return false;
  const FileDescriptor fd(static_cast<int>(::syscall(SYS_perf_event_open, nullptr, 0, -1, -1, 0)));
  return !fd.is_open() && (errno == EPERM || errno == ENOSYS);
}

int try_trace_child() {
  const pid_t own = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return errno;
  if (child == 0) {
    // It must not outlive us, whatever ends us.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (::getppid() == own) ::pause();
    ::_exit(0);
  }
  const int number = ::ptrace(PTRACE_SEIZE, child, nullptr, nullptr) == 0 ? 0 : errno;
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, __WALL);
  return number;
}

}  // namespace nodescope
