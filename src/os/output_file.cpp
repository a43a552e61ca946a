#include "os/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "os/file.h"

namespace nodescope {

namespace {

constexpr std::size_t kBufferBytes = 256 * 1024;

// What a signal handler may look at: the one output file that is being written.
std::array<char, 4096> g_unfinished_path;
volatile std::sig_atomic_t g_unfinished = 0;

void remember_unfinished(const std::string& path) {
  if (path.size() >= g_unfinished_path.size()) return;
  std::memcpy(g_unfinished_path.data(), path.c_str(), path.size() + 1);
  g_unfinished = 1;
}

void remove_unfinished() {
  if (g_unfinished != 0) ::unlink(g_unfinished_path.data());
}

void end_by_signal(int number) {
  remove_unfinished();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

void end_by_shrunken_input(int) {
  remove_unfinished();
  constexpr std::string_view kMessage = "nodescope: an input file became shorter while it was read\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kMessage.data(), kMessage.size());
  ::_exit(1);
}

Result<void> write_all(int fd, std::string_view bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      return fail_errno(errno, "writing " + name);
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

// mkostemp makes files that only their owner may read; a result is as readable as the user's umask says.
void apply_umask(int fd) {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(fd, 0666 & ~mask);
}

// While it lives, signals that end the program wait: a temporary file that nobody knows of would stay.
class EndingSignalsWait {
 public:
  EndingSignalsWait() {
    sigset_t ending;
    sigemptyset(&ending);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ending, number);
    ::pthread_sigmask(SIG_BLOCK, &ending, &before_);
  }
  ~EndingSignalsWait() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  EndingSignalsWait(const EndingSignalsWait&) = delete;
  EndingSignalsWait& operator=(const EndingSignalsWait&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

Result<std::unique_ptr<OutputFile>> OutputFile::create(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    // A device or a FIFO (/dev/null, process substitution) cannot be replaced: it is written in place.
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return fail_errno(errno, "writing " + path);
    return std::unique_ptr<OutputFile>(new OutputFile(fd, path, ""));
  }
  const EndingSignalsWait wait;
  std::string temporary = path + ".XXXXXX";
  const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return fail_errno(errno, "writing " + path);
  apply_umask(fd);
  remember_unfinished(temporary);
  return std::unique_ptr<OutputFile>(new OutputFile(fd, path, temporary));
}

OutputFile::OutputFile(int fd, std::string path, std::string temporary_path)
    : fd_(fd), path_(std::move(path)), temporary_path_(std::move(temporary_path)) {}

OutputFile::~OutputFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  if (temporary_path_.empty()) return;
  ::unlink(temporary_path_.c_str());
  g_unfinished = 0;
}

Result<void> OutputFile::write(std::string_view bytes) {
  if (buffer_.size() + bytes.size() > kBufferBytes) {
    if (auto done = flush(); !done) return done;
  }
  if (bytes.size() > kBufferBytes) return write_all(fd_, bytes, path_);
  buffer_ += bytes;
  return {};
}

Result<void> OutputFile::flush() {
  auto done = write_all(fd_, buffer_, path_);
  buffer_.clear();
  return done;
}

Result<void> OutputFile::commit() {
  if (auto done = flush(); !done) return done;
  if (::close(std::exchange(fd_, -1)) != 0) return fail_errno(errno, "writing " + path_);
  if (temporary_path_.empty()) return {};
  const int renamed = ::rename(temporary_path_.c_str(), path_.c_str());
  const int number = errno;
  if (renamed != 0) ::unlink(temporary_path_.c_str());
  g_unfinished = 0;
  if (renamed != 0) return fail_errno(number, "writing " + path_);
  return {};
}

Result<std::unique_ptr<GrowingFile>> GrowingFile::create(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    FileDescriptor fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!fd.is_open()) return fail_errno(errno, "writing " + path);
    return std::unique_ptr<GrowingFile>(new GrowingFile(std::move(fd), path));
  }
  const EndingSignalsWait wait;
  std::string temporary = path + ".XXXXXX";
  FileDescriptor fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (!fd.is_open()) return fail_errno(errno, "writing " + path);
  apply_umask(fd.get());
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const int number = errno;
    ::unlink(temporary.c_str());
    return fail_errno(number, "writing " + path);
  }
  return std::unique_ptr<GrowingFile>(new GrowingFile(std::move(fd), path));
}

Result<void> GrowingFile::write(std::string_view bytes) {
  return write_all(fd_.get(), bytes, path_);
}

Result<void> StandardOutput::write(std::string_view bytes) {
  return write_all(STDOUT_FILENO, bytes, "standard output");
}

void install_signal_handlers() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    if (std::signal(number, end_by_signal) == SIG_IGN) std::signal(number, SIG_IGN);
  }
  std::signal(SIGBUS, end_by_shrunken_input);
}

}  // namespace nodescope
