#include "os/procfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include "base/text.h"
#include "os/file.h"

namespace nodescope {

namespace {

constexpr std::size_t kMaxProcFile = std::size_t{64} << 20;

// The names in `folder` that are numbers, sorted.
Result<std::vector<pid_t>> list_numbers(const std::string& folder) {
  const auto closer = [](DIR* open) { ::closedir(open); };
  const std::unique_ptr<DIR, decltype(closer)> directory(::opendir(folder.c_str()), closer);
  if (directory == nullptr) return fail_errno(errno, "reading " + folder);
  std::vector<pid_t> numbers;
  while (const dirent* entry = ::readdir(directory.get())) {
    if (const auto number = parse_number<pid_t>(static_cast<const char*>(entry->d_name)))
      numbers.push_back(*number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

Result<FileIdentity> identify(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return fail_errno(errno, "looking at " + path);
  return FileIdentity{status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size)};
}

// As O_PATH: what it is was not looked at yet.  Neither links nor ".." lead out of the root folder of the
// process.
Result<FileDescriptor> find_below_root(pid_t pid, const std::string& path, int more_flags) {
  const std::string attempt = fmt::format("opening {} of process {}", path, pid);
  const std::string root = fmt::format("/proc/{}/root", pid);
  const FileDescriptor folder(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return fail_errno(errno, attempt);
  open_how how{};
  how.flags = static_cast<std::uint64_t>(O_PATH | O_CLOEXEC | more_flags);
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  FileDescriptor place(
      static_cast<int>(::syscall(SYS_openat2, folder.get(), path.c_str(), &how, sizeof how)));
  if (!place.is_open()) return fail_errno(errno, attempt);
  return place;
}

}  // namespace

pid_t own_pid() {
  return ::getpid();
}

Result<std::vector<pid_t>> list_processes() {
  return list_numbers("/proc");
}

Result<std::string> read_proc_file(pid_t pid, std::string_view name) {
  const std::string path = fmt::format("/proc/{}/{}", pid, name);
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.is_open()) return fail_errno(errno, "opening " + path);
  std::string content;
  std::array<char, 16384> part{};
  for (;;) {
    const ssize_t count = ::read(fd.get(), part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail_errno(errno, "reading " + path);
    if (count == 0) return content;
    content.append(part.data(), static_cast<std::size_t>(count));
    if (content.size() > kMaxProcFile) return fail(ErrorCode::kLimit, path + " is larger than 64 MiB");
  }
}

Result<std::string> read_proc_link(pid_t pid, std::string_view name) {
  const std::string path = fmt::format("/proc/{}/{}", pid, name);
  std::array<char, 4096> target{};
  const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
  if (size < 0) return fail_errno(errno, "reading " + path);
  return std::string(target.data(), static_cast<std::size_t>(size));
}

ProcessState process_state(pid_t pid) {
  const auto stat = read_proc_file(pid, "stat");
  if (!stat) return ProcessState::kGone;
  // The name before the state is in parentheses and may have any character.
  const std::size_t name_end = stat->rfind(") ");
  if (name_end == std::string::npos || name_end + 2 >= stat->size()) return ProcessState::kGone;
  switch ((*stat)[name_end + 2]) {
    case 'T':
    case 't':
      return ProcessState::kStopped;
    case 'Z':
    case 'X': {
      // Its main thread has ended; others may go on.
      const auto threads = list_threads(pid);
      return threads && threads->size() > 1 ? ProcessState::kRunning : ProcessState::kEnded;
    }
    default:
      return ProcessState::kRunning;
  }
}

std::string kernel_release() {
  utsname name{};
  return ::uname(&name) == 0 ? std::string(static_cast<const char*>(name.release)) : std::string();
}

std::string host_name() {
  utsname name{};
  return ::uname(&name) == 0 ? std::string(static_cast<const char*>(name.nodename)) : std::string();
}

Result<std::vector<pid_t>> list_threads(pid_t pid) {
  return list_numbers(fmt::format("/proc/{}/task", pid));
}

Result<std::unique_ptr<ByteSource>> open_mapped_file(pid_t pid, std::string_view range) {
  return open_regular_file(fmt::format("/proc/{}/map_files/{}", pid, range));
}

Result<std::unique_ptr<ByteSource>> open_executable(pid_t pid) {
  return open_regular_file(fmt::format("/proc/{}/exe", pid));
}

Result<FileIdentity> identify_executable(pid_t pid) {
  return identify(fmt::format("/proc/{}/exe", pid));
}

Result<FileIdentity> identify_root(pid_t pid) {
  return identify(fmt::format("/proc/{}/root", pid));
}

Result<std::unique_ptr<ByteSource>> open_in_root(pid_t pid, const std::string& path) {
  const auto place = find_below_root(pid, path, 0);
  if (!place) return std::unexpected(place.error());
  return open_regular_source(*place, path);
}

Result<std::unique_ptr<ByteSource>> open_own_file_in_root(pid_t pid, const std::string& path) {
  const auto place = find_below_root(pid, path, O_NOFOLLOW);
  if (!place) return std::unexpected(place.error());
  struct stat process{};
  struct stat file{};
  const std::string folder = fmt::format("/proc/{}", pid);
  if (::stat(folder.c_str(), &process) != 0) return fail_errno(errno, "looking at " + folder);
  if (::fstat(place->get(), &file) != 0) return fail_errno(errno, "looking at " + path);
  if (file.st_uid != 0 && file.st_uid != process.st_uid) {
    return fail(
        ErrorCode::kPermission,
        fmt::format(
            "{} of process {} belongs to user {}, neither to root nor to the process's own: not trusted",
            path, pid, file.st_uid));
  }
  return open_regular_source(*place, path);
}

}  // namespace nodescope
