#include "os/file.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "base/path.h"
#include "os/mapped_files.h"

namespace nodescope {

namespace {

constexpr const char* kVdso = "[vdso]";

ErrorCode code_of(int number) {
  if (number == ENOENT || number == ENOTDIR) return ErrorCode::kNotFound;
  if (number == EACCES || number == EPERM) return ErrorCode::kPermission;
  return ErrorCode::kSystem;
}

class FileSource final : public ByteSource {
 public:
  enum class Shrinking : std::uint8_t { kEndsUs, kReadsAsZeros };

  FileSource(FileDescriptor fd, std::string name, std::optional<std::uint64_t> size,
             Shrinking shrinking = Shrinking::kEndsUs)
      : fd_(std::move(fd)), name_(std::move(name)), size_(size), shrinking_(shrinking) {}

  ~FileSource() override {
    if (mapping_ == nullptr) return;
    if (shrinking_ == Shrinking::kReadsAsZeros) remove_survivable_mapping(mapping_);
    ::munmap(mapping_, static_cast<std::size_t>(*size_));
  }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  Result<std::size_t> read(std::span<std::byte> into) override {
    return transfer([&] { return ::read(fd_.get(), into.data(), into.size()); });
  }

  std::optional<std::uint64_t> size() const override { return size_; }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override {
    std::size_t total = 0;
    while (total < into.size()) {
      const auto rest = into.subspan(total);
      const auto position = static_cast<off_t>(offset + total);
      const auto count = transfer([&] { return ::pread(fd_.get(), rest.data(), rest.size(), position); });
      if (!count) return count;
      if (*count == 0) break;
      total += *count;
    }
    return total;
  }

  std::optional<std::span<const std::byte>> mapped() override {
    const std::scoped_lock lock(mapping_mutex_);
    if (!size_ || *size_ == 0) return std::nullopt;
    if (mapping_ == nullptr) {
      void* address = ::mmap(nullptr, static_cast<std::size_t>(*size_), PROT_READ, MAP_PRIVATE, fd_.get(), 0);
      if (address == MAP_FAILED) return std::nullopt;
      const bool is_added = shrinking_ == Shrinking::kEndsUs ||
                            add_survivable_mapping(address, static_cast<std::size_t>(*size_));
      if (!is_added) {
        ::munmap(address, static_cast<std::size_t>(*size_));
        return std::nullopt;
      }
      mapping_ = address;
    }
    return std::span(static_cast<const std::byte*>(mapping_), static_cast<std::size_t>(*size_));
  }

  void release_pages() override {
    const std::scoped_lock lock(mapping_mutex_);
    if (mapping_ != nullptr) ::madvise(mapping_, static_cast<std::size_t>(*size_), MADV_DONTNEED);
  }

  std::string_view name() const override { return name_; }

 private:
  template <typename Call>
  Result<std::size_t> transfer(Call call) {
    for (;;) {
      const ssize_t count = call();
      if (count >= 0) return static_cast<std::size_t>(count);
      if (errno != EINTR) return fail_errno(errno, "reading " + name_);
    }
  }

  FileDescriptor fd_;
  std::string name_;
  std::optional<std::uint64_t> size_;
  Shrinking shrinking_;
  std::mutex mapping_mutex_;
  void* mapping_ = nullptr;
};

// A file of /proc says it is regular and has no bytes, and yet has content: it is read as a stream.
Result<std::unique_ptr<ByteSource>> source_of(
    FileDescriptor fd, std::string name, FileSource::Shrinking shrinking = FileSource::Shrinking::kEndsUs) {
  struct stat status{};
  if (::fstat(fd.get(), &status) != 0) return fail_errno(errno, "reading " + name);
  if (S_ISDIR(status.st_mode)) return fail(ErrorCode::kUsage, name + " is a folder, not a file");
  std::optional<std::uint64_t> size;
  const bool at_start = ::lseek(fd.get(), 0, SEEK_CUR) == 0;
  if (S_ISREG(status.st_mode) && status.st_size > 0 && at_start)
    size = static_cast<std::uint64_t>(status.st_size);
  return std::make_unique<FileSource>(std::move(fd), std::move(name), size, shrinking);
}

bool is_writable_by_everybody(const std::string& folder) {
  struct stat status{};
  return ::stat(folder.c_str(), &status) == 0 && (status.st_mode & S_IWOTH) != 0;
}

// "~/x" -> "/home/me/x"
std::string with_home(const std::string& path) {
  const char* home = path.starts_with("~/") ? std::getenv("HOME") : nullptr;
  return home == nullptr ? path : home + path.substr(1);
}

// The code that the kernel maps into every process, as it is in this one: it has no file.  Its section
// headers come last.
Result<std::unique_ptr<ByteSource>> open_vdso() {
  // The kernel tells its address as a number.
  const auto* const begin = reinterpret_cast<const std::byte*>(::getauxval(AT_SYSINFO_EHDR));  // NOLINT
  if (begin == nullptr) return fail(ErrorCode::kNotFound, "this process has no vdso");
  Elf64_Ehdr header;
  std::memcpy(&header, begin, sizeof header);
  const std::size_t size = header.e_shoff + std::size_t{header.e_shnum} * header.e_shentsize;
  return std::make_unique<MemorySource>(as_text({begin, size}), kVdso);
}

}  // namespace

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  FileDescriptor old(std::exchange(fd_, std::exchange(other.fd_, -1)));
  return *this;
}

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

std::unexpected<Error> fail_errno(int number, const std::string& attempt) {
  return fail(code_of(number), fmt::format("{}: {}", attempt, std::strerror(number)));
}

Result<std::unique_ptr<ByteSource>> open_file(const std::string& path) {
  FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.is_open()) return fail_errno(errno, "opening " + path);
  return source_of(std::move(fd), path);
}

Result<FileDescriptor> open_regular(const FileDescriptor& place, const std::string& name) {
  const std::string attempt = "opening " + name;
  struct stat status{};
  if (::fstat(place.get(), &status) != 0) return fail_errno(errno, attempt);
  if (!S_ISREG(status.st_mode)) return fail(ErrorCode::kUnsupported, name + " is not a regular file");
  // O_NONBLOCK: the kernel would wait for whoever holds a lease on it, for 45 seconds.
  FileDescriptor fd(::open(fmt::format("/proc/self/fd/{}", place.get()).c_str(),
                           O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.is_open() && errno == EWOULDBLOCK)
    return fail(ErrorCode::kSystem, attempt + ": another process holds a lease on it");
  if (!fd.is_open()) return fail_errno(errno, attempt);
  return fd;
}

Result<std::unique_ptr<ByteSource>> open_regular_source(const FileDescriptor& place, std::string name) {
  auto fd = open_regular(place, name);
  if (!fd) return std::unexpected(fd.error());
  return source_of(std::move(*fd), std::move(name), FileSource::Shrinking::kReadsAsZeros);
}

Result<std::unique_ptr<ByteSource>> open_regular_file(const std::string& path) {
  const FileDescriptor place(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!place.is_open()) return fail_errno(errno, "opening " + path);
  return open_regular_source(place, path);
}

Result<std::string> read_regular_file(const std::string& path, std::uint64_t limit) {
  const std::string attempt = "reading " + path;
  const FileDescriptor place(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!place.is_open()) return fail_errno(errno, attempt);
  struct stat status{};
  if (::fstat(place.get(), &status) != 0) return fail_errno(errno, attempt);
  if (static_cast<std::uint64_t>(status.st_size) > limit)
    return fail(ErrorCode::kLimit, fmt::format("{} has more than {} bytes", path, limit));
  auto fd = open_regular(place, path);
  if (!fd) return std::unexpected(fd.error());
  std::string content(static_cast<std::size_t>(status.st_size), '\0');
  FileSource source(std::move(*fd), path, content.size());
  const auto count = source.read_at(0, std::as_writable_bytes(std::span(content)));
  if (!count) return std::unexpected(count.error());
  content.resize(*count);
  return content;
}

Result<std::unique_ptr<ByteSource>> open_standard_input() {
  FileDescriptor fd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  if (!fd.is_open()) return fail_errno(errno, "opening standard input");
  return source_of(std::move(fd), "standard input");
}

Result<std::unique_ptr<ByteSource>> HostFiles::open(const std::string& given_path) {
  if (given_path == kVdso) return open_vdso();
  const std::string path = with_home(given_path);
  const bool doubtful_folder = is_writable_by_everybody(std::string(folder_of(path)));
  const FileDescriptor place(::open(path.c_str(), O_PATH | O_CLOEXEC | (doubtful_folder ? O_NOFOLLOW : 0)));
  struct stat status{};
  if (!place.is_open() || ::fstat(place.get(), &status) != 0) return fail_errno(errno, "opening " + path);
  if (doubtful_folder && status.st_uid != 0 && status.st_uid != ::geteuid()) {
    return fail(
        ErrorCode::kPermission,
        fmt::format(
            "{} belongs to user {}, neither to root nor to you, in a folder that everybody may write to: "
            "not trusted; copy it beside the recording to use it",
            path, status.st_uid));
  }
  return open_regular_source(place, path);
}

}  // namespace nodescope
