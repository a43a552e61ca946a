#include "os/procfs.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/fsuid.h>
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

// Whom the kernel asks for when a process opens a file.
struct FileUser {
  uid_t user = 0;
  gid_t group = 0;
};

// The owner of /proc/PID would not do: a process can hide behind root there.
Result<FileUser> file_user_of(pid_t pid) {
  const auto status = read_proc_file(pid, "status");
  if (!status) return std::unexpected(status.error());
  // "Uid:\t1000\t1000\t1000\t1000": real, effective, saved, file system.
  const auto last_of_line = [&](std::string_view name) {
    const std::size_t line = status->find(name);
    if (line == std::string::npos) return std::optional<std::uint32_t>();
    const std::string_view text = std::string_view(*status).substr(line + 1);
    const std::string_view fields = text.substr(0, text.find('\n'));
    return parse_number<std::uint32_t>(fields.substr(fields.rfind('\t') + 1));
  };
  const auto user = last_of_line("\nUid:");
  const auto group = last_of_line("\nGid:");
  if (!user || !group) return fail(ErrorCode::kUnsupported, fmt::format("no user of process {}", pid));
  return FileUser{*user, *group};
}

// Opens files as somebody else, without root's right to all of them, for as long as it lives.  Only this
// thread does.
class ActingAs {
 public:
  explicit ActingAs(const FileUser& who)
      : group_(static_cast<gid_t>(::setfsgid(who.group))), user_(static_cast<uid_t>(::setfsuid(who.user))) {}
  ~ActingAs() {
    ::setfsuid(user_);
    ::setfsgid(group_);
  }
  ActingAs(const ActingAs&) = delete;
  ActingAs& operator=(const ActingAs&) = delete;

 private:
  gid_t group_;
  uid_t user_;
};

// Beside what the kernel checks: our own further groups stay with us when acting as somebody else.
bool may_read(const FileUser& who, const struct stat& file) {
  if (who.user == 0) return true;
  if (file.st_uid == who.user) return (file.st_mode & S_IRUSR) != 0;
  if (file.st_gid == who.group) return (file.st_mode & S_IRGRP) != 0;
  return (file.st_mode & S_IROTH) != 0;
}

struct OpenFile {
  FileDescriptor fd;
  struct stat status{};
};

// Neither links nor ".." lead out of the root folder of the process.
Result<OpenFile> open_below_root(pid_t pid, const std::string& path, int more_flags,
                                 const FileUser* as = nullptr) {
  const std::string attempt = fmt::format("opening {} of process {}", path, pid);
  const std::string root = fmt::format("/proc/{}/root", pid);
  const FileDescriptor folder(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder.is_open()) return fail_errno(errno, attempt);
  open_how how{};
  // O_NONBLOCK: a FIFO must not make us wait for its writer.
  how.flags = static_cast<std::uint64_t>(O_RDONLY | O_CLOEXEC | O_NONBLOCK | more_flags);
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  std::optional<ActingAs> acting;
  if (as != nullptr) acting.emplace(*as);
  OpenFile file;
  file.fd =
      FileDescriptor(static_cast<int>(::syscall(SYS_openat2, folder.get(), path.c_str(), &how, sizeof how)));
  if (!file.fd.is_open()) return fail_errno(errno, attempt);
  if (::fstat(file.fd.get(), &file.status) != 0) return fail_errno(errno, attempt);
  if (!S_ISREG(file.status.st_mode)) return fail(ErrorCode::kUnsupported, path + " is not a regular file");
  return file;
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
  return open_file(fmt::format("/proc/{}/map_files/{}", pid, range));
}

Result<std::unique_ptr<ByteSource>> open_executable(pid_t pid) {
  return open_file(fmt::format("/proc/{}/exe", pid));
}

Result<FileIdentity> identify_executable(pid_t pid) {
  return identify(fmt::format("/proc/{}/exe", pid));
}

Result<FileIdentity> identify_root(pid_t pid) {
  return identify(fmt::format("/proc/{}/root", pid));
}

Result<std::unique_ptr<ByteSource>> open_in_root(pid_t pid, const std::string& path) {
  const auto file = open_below_root(pid, path, 0);
  if (!file) return std::unexpected(file.error());
  // Once more through our own descriptor, which names this file and no other.
  return open_file(fmt::format("/proc/self/fd/{}", file->fd.get()));
}

Result<TextInRoot> read_text_in_root(pid_t pid, const std::string& path, std::uint64_t limit) {
  const auto reader = file_user_of(pid);
  if (!reader) return std::unexpected(reader.error());
  const auto file = open_below_root(pid, path, 0, &*reader);
  if (!file) return std::unexpected(file.error());
  if (!may_read(*reader, file->status))
    return fail(ErrorCode::kPermission, fmt::format("process {} may not read {}", pid, path));
  auto source = open_file(fmt::format("/proc/self/fd/{}", file->fd.get()));
  if (!source) return std::unexpected(source.error());
  const auto size = (*source)->size();
  if (!size || *size > limit)
    return fail(ErrorCode::kLimit, fmt::format("{} has more than {} bytes", path, limit));
  TextInRoot content;
  content.text.resize(*size);
  const auto count = (*source)->read_at(0, std::as_writable_bytes(std::span(content.text)));
  if (!count) return std::unexpected(count.error());
  content.text.resize(*count);
  constexpr std::int64_t kSecondNs = 1'000'000'000;
  content.modified_ns = file->status.st_mtim.tv_sec * kSecondNs + file->status.st_mtim.tv_nsec;
  return content;
}

Result<std::unique_ptr<ByteSource>> open_own_file_in_root(pid_t pid, const std::string& path) {
  const auto file = open_below_root(pid, path, O_NOFOLLOW);
  if (!file) return std::unexpected(file.error());
  struct stat process{};
  const std::string folder = fmt::format("/proc/{}", pid);
  if (::stat(folder.c_str(), &process) != 0) return fail_errno(errno, "looking at " + folder);
  const uid_t owner = file->status.st_uid;
  if (owner != 0 && owner != process.st_uid) {
    return fail(
        ErrorCode::kPermission,
        fmt::format(
            "{} of process {} belongs to user {}, neither to root nor to the process's own: not trusted",
            path, pid, owner));
  }
  return open_file(fmt::format("/proc/self/fd/{}", file->fd.get()));
}

}  // namespace nodescope
