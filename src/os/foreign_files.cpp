#include "os/foreign_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <optional>
#include <ranges>
#include <span>
#include <utility>

#include "base/byte_source.h"
#include "base/text.h"
#include "os/foreign_reader.h"

namespace nodescope {

namespace {

constexpr timeval kPatience{1, 0};

constexpr std::size_t kMaxStatusBytes = std::size_t{1} << 20;  // a process may have 65,536 groups

// The words of the line "NAME:\tword word"; nothing if there is no such line.
std::optional<std::vector<std::string_view>> words_of(std::string_view status, std::string_view name) {
  const std::string mark = fmt::format("\n{}:", name);
  const std::size_t line = status.find(mark);
  if (line == std::string_view::npos) return std::nullopt;
  std::string_view rest = status.substr(line + mark.size());
  rest = rest.substr(0, rest.find('\n'));
  std::vector<std::string_view> words;
  while (true) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    if (rest.empty()) return words;
    const std::size_t end = std::min(rest.find_first_of(" \t"), rest.size());
    words.push_back(rest.substr(0, end));
    rest.remove_prefix(end);
  }
}

// Real, effective, saved, file system: the last counts.
std::optional<std::uint32_t> last_id(std::string_view status, std::string_view name) {
  const auto words = words_of(status, name);
  return words && words->size() == 4 ? parse_number<std::uint32_t>(words->back()) : std::nullopt;
}

// Below a folder of /proc that was opened: a process that comes later cannot have it.
Result<std::string> read_below(int folder, const char* name) {
  const FileDescriptor fd(::openat(folder, name, O_RDONLY | O_CLOEXEC));
  if (!fd.is_open()) return fail_errno(errno, fmt::format("reading {}", name));
  std::string text;
  std::array<char, 4096> part{};
  for (;;) {
    const ssize_t count = ::read(fd.get(), part.data(), part.size());
    if (count < 0) return fail_errno(errno, fmt::format("reading {}", name));
    if (count == 0 || text.size() > kMaxStatusBytes) return text;
    text.append(part.data(), static_cast<std::size_t>(count));
  }
}

std::optional<std::string> read_link(int folder, const char* name) {
  std::array<char, 64> text{};
  const ssize_t size = ::readlinkat(folder, name, text.data(), text.size());
  if (size < 0) return std::nullopt;
  return std::string(text.data(), static_cast<std::size_t>(size));
}

Error error_of(const ReadReply& reply, const std::string& path, std::uint64_t limit) {
  switch (reply.outcome) {
    case ReadReply::Outcome::kNotRegular:
      return {ErrorCode::kUnsupported, path + " is not a regular file"};
    case ReadReply::Outcome::kTooLarge:
      return {ErrorCode::kLimit, fmt::format("{} has more than {} bytes", path, limit)};
    case ReadReply::Outcome::kNotPermitted:
      return {
          ErrorCode::kPermission,
          fmt::format("{} was not read: its process has other rights to files than nodescope, and only root "
                      "can take them",
                      path)};
    default:
      return fail_errno(reply.error_number, "reading " + path).error();
  }
}

}  // namespace

Result<FileRights> parse_file_rights(std::string_view status) {
  FileRights rights;
  const auto user = last_id(status, "Uid");
  const auto group = last_id(status, "Gid");
  const auto groups = words_of(status, "Groups");
  const auto capabilities = words_of(status, "CapEff");
  if (!user || !group || !groups || !capabilities || capabilities->size() != 1)
    return fail(ErrorCode::kUnsupported, "the kernel does not say what rights the process has");
  rights.user = *user;
  rights.group = *group;
  for (const std::string_view word : *groups) {
    const auto number = parse_number<std::uint32_t>(word);
    if (!number) return fail(ErrorCode::kUnsupported, "the kernel does not say what groups the process has");
    rights.groups.push_back(*number);
  }
  std::ranges::sort(rights.groups);
  rights.capabilities = parse_hex(capabilities->front()).value_or(0);
  return rights;
}

Result<ForeignFiles> ForeignFiles::open(pid_t pid) {
  const std::string attempt = fmt::format("opening files of process {}", pid);
  const FileDescriptor process(
      ::open(fmt::format("/proc/{}", pid).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!process.is_open()) return fail_errno(errno, attempt);
  FileDescriptor root(::openat(process.get(), "root", O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat status{};
  if (!root.is_open() || ::fstat(root.get(), &status) != 0) return fail_errno(errno, attempt);
  auto mounts = read_link(process.get(), "ns/mnt");
  const auto users = read_link(process.get(), "ns/user");
  if (!mounts || !users) return fail_errno(errno, attempt);
  const auto text = read_below(process.get(), "status");
  if (!text) return fail(text.error(), attempt);
  auto rights = parse_file_rights(*text);
  if (!rights) return fail(rights.error(), attempt);
  rights->root = {status.st_dev, status.st_ino, static_cast<std::uint64_t>(status.st_size)};
  rights->mount_namespace = std::move(*mounts);
  // Capabilities count in the namespace that they were got in.
  if (users != read_link(AT_FDCWD, "/proc/self/ns/user")) rights->capabilities = 0;
  return ForeignFiles(std::move(*rights), std::move(root));
}

Result<ForeignFiles> ForeignFiles::of_user(const User& user) {
  FileDescriptor root(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root.is_open()) return fail_errno(errno, "opening /");
  FileRights rights;
  rights.user = user.uid;
  rights.group = user.gid;
  return ForeignFiles(std::move(rights), std::move(root));
}

ForeignFiles::ForeignFiles(ForeignFiles&& other) noexcept
    : rights_(std::move(other.rights_)),
      root_(std::move(other.root_)),
      helper_(std::exchange(other.helper_, 0)),
      channel_(std::move(other.channel_)),
      given_up_(other.given_up_) {}

ForeignFiles::~ForeignFiles() {
  end();
}

Result<void> ForeignFiles::start() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return fail_errno(errno, "making a channel");
  FileDescriptor own_end(ends[0]);
  const FileDescriptor other_end(ends[1]);
  const pid_t helper = ::fork();
  if (helper < 0) return fail_errno(errno, "starting a reader of files");
  if (helper == 0) run_foreign_reader(rights_, root_.get(), other_end.get());
  ::setsockopt(own_end.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  ::setsockopt(own_end.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  helper_ = helper;
  channel_ = std::move(own_end);
  return {};
}

void ForeignFiles::end() {
  channel_ = FileDescriptor();
  if (helper_ == 0) return;
  // One that waits for a file system that does not answer may not end at once: then it is left alone.
  constexpr int kTries = 100;
  ::kill(helper_, SIGKILL);
  for (int i = 0; i < kTries && ::waitpid(helper_, nullptr, WNOHANG) == 0; ++i) ::usleep(1000);
  helper_ = 0;
}

Result<ForeignText> ForeignFiles::read(const std::string& path, std::uint64_t limit) {
  const std::string attempt = "reading " + path;
  if (path.size() >= PATH_MAX) return fail_errno(ENAMETOOLONG, attempt);
  if (given_up_) return fail(ErrorCode::kLimit, attempt + ": a file of this process took too long before");
  if (helper_ == 0) {
    if (auto started = start(); !started) return std::unexpected(started.error());
  }
  const ReadRequest request{limit, static_cast<std::uint32_t>(path.size())};
  ReadReply reply;
  bool answered = send_bytes(channel_.get(), std::as_bytes(std::span(&request, 1))) &&
                  send_bytes(channel_.get(), as_byte_span(path)) &&
                  receive_bytes(channel_.get(), std::as_writable_bytes(std::span(&reply, 1)));
  if (answered && reply.outcome != ReadReply::Outcome::kRead)
    return std::unexpected(error_of(reply, path, limit));
  ForeignText content;
  if (answered && reply.text_bytes <= limit && reply.path_bytes <= PATH_MAX) {
    content.real_path.resize(reply.path_bytes);
    content.text.resize(reply.text_bytes);
    answered = receive_bytes(channel_.get(), std::as_writable_bytes(std::span(content.real_path))) &&
               receive_bytes(channel_.get(), std::as_writable_bytes(std::span(content.text)));
    content.modified_ns = reply.modified_ns;
    if (answered) return content;
  }
  given_up_ = true;
  end();
  return fail(ErrorCode::kLimit, attempt + ": it took too long");
}

}  // namespace nodescope
