#include "os/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "os/file.h"
#include "os/mapped_files.h"
#include "os/random.h"
#include "os/terminal.h"

namespace nodescope {

namespace {

constexpr std::size_t kBufferBytes = 256 * 1024;

// What a signal handler may look at: the one output file that is being written.
std::array<char, 512> g_unfinished_name;
volatile std::sig_atomic_t g_unfinished_folder = -1;
volatile std::sig_atomic_t g_unfinished = 0;

void remember_unfinished(int folder, const std::string& name) {
  if (name.size() >= g_unfinished_name.size()) return;
  std::memcpy(g_unfinished_name.data(), name.c_str(), name.size() + 1);
  g_unfinished_folder = folder;
  g_unfinished = 1;
}

void remove_unfinished() {
  if (g_unfinished != 0) ::unlinkat(g_unfinished_folder, g_unfinished_name.data(), 0);
}

void end_by_signal(int number) {
  remove_unfinished();
  restore_terminal();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

// Not SIG_IGN: programs that we start would inherit that.
void ignore(int) {}

void survive_or_end(int, siginfo_t* fault, void*) {
  if (fault->si_code == BUS_ADRERR && survive_fault(fault->si_addr)) return;
  remove_unfinished();
  restore_terminal();
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

mode_t own_umask() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return mask;
}

mode_t mode_for(const OutputPlace& place, Readers readers) {
  constexpr mode_t kOwner = S_IRUSR | S_IWUSR;
  if (readers == Readers::kOwner) return kOwner;
  const mode_t everybody = kOwner | S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH;
  return (everybody & ~own_umask() & place.replaced_mode().value_or(everybody)) | kOwner;
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

// One of both is there.
struct Target {
  FileDescriptor in_place;
  std::optional<TemporaryFile> file;
};

Result<Target> open_target(const std::string& path) {
  auto place = OutputPlace::find(path);
  if (!place) return std::unexpected(place.error());
  Target target;
  if (place->is_special()) {
    auto special = place->open_special();
    if (!special) return std::unexpected(special.error());
    target.in_place = std::move(*special);
    return target;
  }
  auto file = TemporaryFile::create(std::move(*place), path);
  if (!file) return std::unexpected(file.error());
  target.file.emplace(std::move(*file));
  return target;
}

}  // namespace

Result<TemporaryFile> TemporaryFile::create(OutputPlace place, const std::string& path) {
  constexpr int kTries = 100;
  const EndingSignalsWait wait;
  for (int i = 0; i < kTries; ++i) {
    const auto suffix = random_hex(4);
    if (!suffix) return std::unexpected(suffix.error());
    std::string name = fmt::format("{}.{}", place.name(), *suffix);
    FileDescriptor fd(::openat(place.folder(), name.c_str(),
                               O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!fd.is_open() && errno == EEXIST) continue;
    if (!fd.is_open()) return fail_errno(errno, "writing " + path);
    remember_unfinished(place.folder(), name);
    return TemporaryFile(std::move(place), std::move(fd), std::move(name), path);
  }
  return fail_errno(EEXIST, "writing " + path);
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : place_(std::move(other.place_)),
      fd_(std::move(other.fd_)),
      name_(std::exchange(other.name_, {})),
      path_(std::move(other.path_)) {}

TemporaryFile::~TemporaryFile() {
  if (name_.empty()) return;
  ::unlinkat(place_.folder(), name_.c_str(), 0);
  g_unfinished = 0;
}

Result<void> TemporaryFile::move_in(Readers readers) {
  const EndingSignalsWait wait;
  ::fchmod(fd_.get(), mode_for(place_, readers));
  // Some file systems tell only here that there was no room.
  if (::close(::fcntl(fd_.get(), F_DUPFD_CLOEXEC, 3)) != 0) return fail_errno(errno, "writing " + path_);
  if (::renameat(place_.folder(), name_.c_str(), place_.folder(), place_.name().c_str()) != 0)
    return fail_errno(errno, "writing " + path_);
  name_.clear();
  g_unfinished = 0;
  // In a folder of somebody else it may not be our file that was moved.
  if (!is_in_place()) return fail(ErrorCode::kSystem, "writing " + path_ + ": somebody exchanged the file");
  return {};
}

bool TemporaryFile::is_in_place() const {
  struct stat ours{};
  struct stat there{};
  return ::fstat(fd_.get(), &ours) == 0 &&
         ::fstatat(place_.folder(), place_.name().c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
         ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

Result<std::unique_ptr<OutputFile>> OutputFile::create(const std::string& path, Readers readers) {
  auto target = open_target(path);
  if (!target) return std::unexpected(target.error());
  return std::unique_ptr<OutputFile>(
      new OutputFile(path, std::move(target->in_place), std::move(target->file), readers));
}

Result<void> OutputFile::write(std::string_view bytes) {
  if (!bytes.empty()) ends_with_hole_ = false;
  if (buffer_.size() + bytes.size() > kBufferBytes) {
    if (auto done = flush(); !done) return done;
  }
  if (bytes.size() > kBufferBytes) return write_all(fd(), bytes, path_);
  buffer_ += bytes;
  return {};
}

Result<void> OutputFile::skip(std::uint64_t bytes) {
  constexpr std::uint64_t kShortest = 4096;
  if (!temporary_ || bytes < kShortest) {
    const std::string zeros(kBufferBytes, '\0');
    for (std::uint64_t left = bytes; left > 0;) {
      const std::uint64_t count = std::min<std::uint64_t>(left, zeros.size());
      if (auto done = write(std::string_view(zeros).substr(0, count)); !done) return done;
      left -= count;
    }
    return {};
  }
  if (auto done = flush(); !done) return done;
  if (::lseek(fd(), static_cast<off_t>(bytes), SEEK_CUR) < 0) return fail_errno(errno, "writing " + path_);
  ends_with_hole_ = true;
  return {};
}

Result<void> OutputFile::flush() {
  auto done = write_all(fd(), buffer_, path_);
  buffer_.clear();
  return done;
}

Result<void> OutputFile::commit() {
  if (auto done = flush(); !done) return done;
  if (ends_with_hole_ && ::ftruncate(fd(), ::lseek(fd(), 0, SEEK_CUR)) != 0)
    return fail_errno(errno, "writing " + path_);
  return temporary_ ? temporary_->move_in(readers_) : Result<void>();
}

Result<std::unique_ptr<GrowingFile>> GrowingFile::create(const std::string& path, Readers readers) {
  auto target = open_target(path);
  if (!target) return std::unexpected(target.error());
  if (target->file) {
    if (auto moved = target->file->move_in(readers); !moved) return std::unexpected(moved.error());
  }
  return std::unique_ptr<GrowingFile>(
      new GrowingFile(path, std::move(target->in_place), std::move(target->file)));
}

Result<void> GrowingFile::write(std::string_view bytes) {
  return write_all(file_ ? file_->fd() : in_place_.get(), bytes, path_);
}

Result<void> GrowingFile::check_is_there() const {
  if (!file_ || file_->is_in_place()) return {};
  return fail(ErrorCode::kNotFound, path_ + " was removed or replaced while it was written");
}

Result<void> check_output(const std::string& path) {
  auto place = OutputPlace::find(path);
  if (!place) return std::unexpected(place.error());
  if (place->is_special()) return {};
  const auto file = TemporaryFile::create(std::move(*place), path);
  if (!file) return std::unexpected(file.error());
  return {};
}

Result<void> StandardOutput::write(std::string_view bytes) {
  return write_all(STDOUT_FILENO, bytes, "standard output");
}

void install_signal_handlers() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT}) {
    // nohup and `command &` of a shell ignore some, and then so do we.
    struct sigaction before{};
    if (::sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      std::signal(number, end_by_signal);
  }
  // A file that must not grow further (ulimit -f) is then an error of the write, which is told.
  std::signal(SIGXFSZ, ignore);
  struct sigaction shrunken{};
  shrunken.sa_sigaction = survive_or_end;
  shrunken.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &shrunken, nullptr);
}

}  // namespace nodescope
