#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/byte_source.h"
#include "base/result.h"

namespace nodescope {

// An open file descriptor, closed at the end of its life.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  ~FileDescriptor();

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

// "reading /x: Permission denied", from errno.
std::unexpected<Error> fail_errno(int number, const std::string& attempt);

// A regular file can be read at random and mapped; a pipe, a device or a file of /proc is a stream.
// A folder is refused.
Result<std::unique_ptr<ByteSource>> open_file(const std::string& path);

// A regular file of somebody who may not wish us well.  Anything else is not even opened: for a device that
// alone could have an effect.  It does not wait for whoever holds a lease on the file; one that becomes
// shorter while it is mapped has zeros in place of what is gone.
Result<std::unique_ptr<ByteSource>> open_regular_file(const std::string& path);
// The one that was opened with O_PATH, whatever has its name by now.
Result<FileDescriptor> open_regular(const FileDescriptor& place, const std::string& name);
Result<std::unique_ptr<ByteSource>> open_regular_source(const FileDescriptor& place, std::string name);

// The content of a regular file that is not a link and has at most `limit` bytes.
Result<std::string> read_regular_file(const std::string& path, std::uint64_t limit);

// Standard input: seekable like a file when it is one.
Result<std::unique_ptr<ByteSource>> open_standard_input();

// Binaries and symbol maps of this machine.  In a folder that everybody may write to (/tmp) a file counts
// only if it is a regular file, not a link, and belongs to root or to the user who asks: anyone could have
// put a perf-PID.map with wrong names there.  "~/" is the user's home, "[vdso]" that of this process.
class HostFiles final : public FileOpener {
 public:
  Result<std::unique_ptr<ByteSource>> open(const std::string& path) override;
};

}  // namespace nodescope
