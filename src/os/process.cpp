#include "os/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <ranges>

#include "os/file.h"

extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace nodescope {

namespace {

constexpr std::size_t kMaxCaptured = std::size_t{64} << 20;

// What posix_spawn does with the descriptors of the new process.
class FileActions {
 public:
  FileActions() { ::posix_spawn_file_actions_init(&actions_); }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  void copy(int from, int to) { ::posix_spawn_file_actions_adddup2(&actions_, from, to); }
  void discard(int fd) { ::posix_spawn_file_actions_addopen(&actions_, fd, "/dev/null", O_RDWR, 0); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

// How posix_spawn makes the new process.
class Attributes {
 public:
  Attributes() { ::posix_spawnattr_init(&attributes_); }
  ~Attributes() { ::posix_spawnattr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;

  void detach() { ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSID); }
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

Result<pid_t> spawn(const std::vector<std::string>& arguments, const FileActions& actions,
                    const Attributes& attributes = {}) {
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  pid_t pid = 0;
  const int number =
      ::posix_spawnp(&pid, pointers[0], actions.get(), attributes.get(), pointers.data(), environ);
  if (number != 0) return fail_errno(number, "starting " + arguments[0]);
  return pid;
}

Result<int> wait_for(pid_t pid, const std::string& name) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) return fail_errno(errno, "waiting for " + name);
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string read_to_end(int fd) {
  std::string text;
  std::array<char, 65536> part{};
  for (;;) {
    const ssize_t count = ::read(fd, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    // What is beyond the limit is read and dropped, so that the program can end.
    if (text.size() < kMaxCaptured) text.append(part.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

Result<int> run_program(const std::vector<std::string>& arguments) {
  FileActions actions;
  actions.copy(STDERR_FILENO, STDOUT_FILENO);
  const auto pid = spawn(arguments, actions);
  if (!pid) return std::unexpected(pid.error());
  return wait_for(*pid, arguments[0]);
}

Result<std::string> capture_program(const std::vector<std::string>& arguments) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_errno(errno, "making a pipe");
  const FileDescriptor reader(ends[0]);
  FileDescriptor writer(ends[1]);
  FileActions actions;
  actions.discard(STDIN_FILENO);
  actions.copy(writer.get(), STDOUT_FILENO);
  actions.discard(STDERR_FILENO);
  const auto pid = spawn(arguments, actions);
  if (!pid) return std::unexpected(pid.error());
  writer = FileDescriptor();
  std::string text = read_to_end(reader.get());
  const auto code = wait_for(*pid, arguments[0]);
  if (!code) return std::unexpected(code.error());
  return text;
}

Result<pid_t> start_detached(const std::vector<std::string>& arguments) {
  FileActions actions;
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) actions.discard(fd);
  Attributes attributes;
  attributes.detach();
  return spawn(arguments, actions, attributes);
}

std::optional<int> take_exit_code(pid_t pid) {
  constexpr int kSignalled = 128;
  int status = 0;
  if (::waitpid(pid, &status, WNOHANG) != pid) return std::nullopt;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalled + WTERMSIG(status);
}

std::optional<std::string> find_program(std::string_view name) {
  const auto if_executable = [](std::string file) {
    return ::access(file.c_str(), X_OK) == 0 ? std::optional(std::move(file)) : std::nullopt;
  };
  if (name.contains('/')) return if_executable(std::string(name));
  const char* path = std::getenv("PATH");
  if (path == nullptr) return std::nullopt;
  for (const auto folder : std::views::split(std::string_view(path), ':')) {
    if (auto found =
            if_executable(fmt::format("{}/{}", std::string_view(folder.begin(), folder.end()), name)))
      return found;
  }
  return std::nullopt;
}

namespace {

constexpr int kNotStarted = 127;

// The child between fork and exec: only calls that are safe there.
[[noreturn]] void wait_and_exec(char* const* arguments, HeldProgram::Output output, int go, int failed) {
  if (output == HeldProgram::Output::kDropped) {
    const int nothing = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nothing >= 0) ::dup2(nothing, STDOUT_FILENO);
  }
  char byte = 0;
  ssize_t count = 0;
  while ((count = ::read(go, &byte, 1)) < 0 && errno == EINTR) {
  }
  // The end of the pipe is not a word to begin: whoever wanted it has ended.
  if (count != 1) ::_exit(kNotStarted);
  ::execvp(arguments[0], arguments);
  const int number = errno;
  [[maybe_unused]] const ssize_t written = ::write(failed, &number, sizeof number);
  ::_exit(kNotStarted);
}

}  // namespace

Result<HeldProgram> HeldProgram::start(const std::vector<std::string>& arguments, Output output) {
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  std::array<int, 2> go{};
  std::array<int, 2> failed{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go.data()) != 0)
    return fail_errno(errno, "making a channel");
  const FileDescriptor go_reader(go[0]);
  FileDescriptor go_writer(go[1]);
  if (::pipe2(failed.data(), O_CLOEXEC) != 0) return fail_errno(errno, "making a pipe");
  FileDescriptor failed_reader(failed[0]);
  const FileDescriptor failed_writer(failed[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return fail_errno(errno, "starting " + arguments[0]);
  if (pid == 0) {
    ::close(go[1]);
    wait_and_exec(pointers.data(), output, go[0], failed[1]);
  }
  return HeldProgram(pid, arguments[0], std::move(go_writer), std::move(failed_reader));
}

HeldProgram::HeldProgram(HeldProgram&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      name_(std::move(other.name_)),
      go_(std::move(other.go_)),
      failed_(std::move(other.failed_)),
      exit_code_(other.exit_code_) {}

HeldProgram::~HeldProgram() {
  if (pid_ != 0) end();
}

Result<void> HeldProgram::let_go() {
  const char word = 1;
  // The one who reads it can have been killed: that is told by its exit code.
  const ssize_t sent = ::send(go_.get(), &word, sizeof word, MSG_NOSIGNAL);
  go_ = FileDescriptor();
  if (sent != sizeof word) return {};
  int number = 0;
  // The other end is closed by a successful exec.
  if (::read(failed_.get(), &number, sizeof number) == static_cast<ssize_t>(sizeof number))
    return fail_errno(number, "starting " + name_);
  return {};
}

std::optional<int> HeldProgram::exit_code() {
  int status = 0;
  if (!exit_code_ && ::waitpid(pid_, &status, WNOHANG) == pid_)
    exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return exit_code_;
}

void HeldProgram::end() {
  constexpr int kPatienceMs = 5000;
  constexpr int kStepMs = 20;
  if (exit_code()) return;
  ::kill(pid_, SIGTERM);
  for (int waited = 0; waited < kPatienceMs; waited += kStepMs) {
    if (exit_code()) return;
    ::usleep(kStepMs * 1000);
  }
  ::kill(pid_, SIGKILL);
  if (const auto code = wait_for(pid_, name_)) exit_code_ = *code;
}

std::uint64_t own_cpu_ns() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(time.tv_nsec);
}

std::string temporary_folder() {
  const char* base = std::getenv("TMPDIR");
  return base != nullptr && *base != '\0' ? base : "/tmp";
}

Result<TemporaryFolder> TemporaryFolder::create() {
  std::string path = temporary_folder() + "/nodescope.XXXXXX";
  if (::mkdtemp(path.data()) == nullptr) return fail_errno(errno, "making a temporary folder");
  return TemporaryFolder(path);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> files_in(const std::string& folder, std::string_view suffix) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.is_regular_file(error) && entry.path().string().ends_with(suffix))
      paths.push_back(entry.path().string());
  }
  std::ranges::sort(paths);
  return paths;
}

}  // namespace nodescope
