#include "os/foreign_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <optional>

#include "base/byte_source.h"
#include "os/privileges.h"

namespace nodescope {

namespace {

// What decides about opening a file.  A process has nothing of them unless it is of root.
constexpr std::uint64_t kFileCapabilities = std::uint64_t{1} << CAP_DAC_OVERRIDE | std::uint64_t{1}
                                                                                       << CAP_DAC_READ_SEARCH;

bool set_capabilities(std::uint64_t set) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const auto low = static_cast<std::uint32_t>(set);
  const auto high = static_cast<std::uint32_t>(set >> 32);
  std::array<__user_cap_data_struct, 2> data = {__user_cap_data_struct{low, low, 0},
                                                __user_cap_data_struct{high, high, 0}};
  return ::syscall(SYS_capset, &header, data.data()) == 0;
}

std::vector<gid_t> own_groups() {
  std::array<gid_t, NGROUPS_MAX> groups{};
  const int count = ::getgroups(groups.size(), groups.data());
  std::vector<gid_t> sorted(groups.begin(), groups.begin() + std::max(count, 0));
  std::ranges::sort(sorted);
  return sorted;
}

bool become_user_of(const FileRights& rights) {
  return ::setgroups(rights.groups.size(), rights.groups.data()) == 0 &&
         ::setresgid(rights.group, rights.group, rights.group) == 0 &&
         ::setresuid(rights.user, rights.user, rights.user) == 0;
}

// Who is no root cannot become somebody else, and need not: such a process is usually one's own.
bool are_users_equal(const FileRights& rights) {
  return rights.user == ::geteuid() && rights.group == ::getegid() &&
         std::ranges::includes(rights.groups, own_groups());
}

bool take_rights(const FileRights& rights) {
  const std::uint64_t own = read_privileges().capabilities;
  const bool has_changed = become_user_of(rights);
  const std::uint64_t left = rights.user == 0 ? own & rights.capabilities & kFileCapabilities : 0;
  return set_capabilities(left) && (has_changed || are_users_equal(rights)) &&
         ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

// A terminal's signals are meant for the recorder, whose end is ours; nobody may look into our memory, which
// is a copy of the recorder's.
void become_helper(int root, int channel) {
  ::setsid();
  ::prctl(PR_SET_NAME, "nodescope-files");
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) std::signal(number, SIG_IGN);
  const auto [low, high] = std::minmax(root, channel);
  const auto close_range = [](int first, unsigned last) {
    ::syscall(SYS_close_range, static_cast<unsigned>(first), last, 0);
  };
  if (low > 0) close_range(0, static_cast<unsigned>(low - 1));
  if (high > low + 1) close_range(low + 1, static_cast<unsigned>(high - 1));
  close_range(high + 1, ~0u);
}

struct Opened {
  ReadReply::Outcome outcome = ReadReply::Outcome::kRead;
  int error_number = 0;
  FileDescriptor fd;
  struct stat status{};
  std::string real_path;
};

Opened failed(int number) {
  Opened opened;
  opened.outcome = ReadReply::Outcome::kSystemError;
  opened.error_number = number;
  return opened;
}

std::string real_path_of(const std::string& link) {
  constexpr std::string_view kDeleted = " (deleted)";
  std::array<char, PATH_MAX> text{};
  const ssize_t size = ::readlink(link.c_str(), text.data(), text.size());
  std::string path(text.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  if (path.ends_with(kDeleted)) path.resize(path.size() - kDeleted.size());
  return path;
}

// What the file is gets known before it is opened: for a device that alone could have an effect.
Opened open_regular(int root, const std::string& path, std::uint64_t limit) {
  open_how how{};
  how.flags = O_PATH | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  const FileDescriptor place(static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how)));
  if (!place.is_open()) return failed(errno);
  Opened opened;
  struct statfs system{};
  if (::fstat(place.get(), &opened.status) != 0 || ::fstatfs(place.get(), &system) != 0) return failed(errno);
  if (!S_ISREG(opened.status.st_mode) || system.f_type == PROC_SUPER_MAGIC) {
    opened.outcome = ReadReply::Outcome::kNotRegular;
  } else if (static_cast<std::uint64_t>(opened.status.st_size) > limit) {
    opened.outcome = ReadReply::Outcome::kTooLarge;
  } else {
    const std::string link = fmt::format("/proc/self/fd/{}", place.get());
    opened.real_path = real_path_of(link);
    // O_NONBLOCK: somebody who holds a lease on the file must not make us wait.
    opened.fd = FileDescriptor(::open(link.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!opened.fd.is_open()) return failed(errno);
  }
  return opened;
}

std::optional<std::string> read_text(int fd, std::size_t size) {
  std::string text(size, '\0');
  std::size_t filled = 0;
  while (filled < size) {
    const ssize_t count = ::pread(fd, text.data() + filled, size - filled, static_cast<off_t>(filled));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::nullopt;
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  text.resize(filled);
  return text;
}

bool answer(int channel, const Opened& opened) {
  ReadReply reply;
  reply.outcome = opened.outcome;
  reply.error_number = opened.error_number;
  std::string text;
  if (opened.fd.is_open()) {
    constexpr std::int64_t kSecondNs = 1'000'000'000;
    auto content = read_text(opened.fd.get(), static_cast<std::size_t>(opened.status.st_size));
    if (!content) return answer(channel, failed(errno));
    text = std::move(*content);
    reply.path_bytes = static_cast<std::uint32_t>(opened.real_path.size());
    reply.text_bytes = static_cast<std::uint32_t>(text.size());
    reply.modified_ns = opened.status.st_mtim.tv_sec * kSecondNs + opened.status.st_mtim.tv_nsec;
  }
  return send_bytes(channel, std::as_bytes(std::span(&reply, 1))) &&
         send_bytes(channel, as_byte_span(std::string_view(opened.real_path).substr(0, reply.path_bytes))) &&
         send_bytes(channel, as_byte_span(text));
}

Opened not_permitted() {
  Opened opened;
  opened.outcome = ReadReply::Outcome::kNotPermitted;
  return opened;
}

}  // namespace

bool send_bytes(int channel, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(channel, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

bool receive_bytes(int channel, std::span<std::byte> into) {
  while (!into.empty()) {
    const ssize_t count = ::read(channel, into.data(), into.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    into = into.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

void run_foreign_reader(const FileRights& rights, int root, int channel) {
  become_helper(root, channel);
  const bool is_permitted = take_rights(rights);
  // After the change of user, which resets both.
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ReadRequest request;
  while (receive_bytes(channel, std::as_writable_bytes(std::span(&request, 1)))) {
    std::string path(request.path_bytes, '\0');
    if (!receive_bytes(channel, std::as_writable_bytes(std::span(path)))) break;
    if (!answer(channel, is_permitted ? open_regular(root, path, request.limit) : not_permitted())) break;
  }
  ::_exit(0);
}

}  // namespace nodescope
