#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/byte_sink.h"
#include "base/result.h"
#include "os/file.h"

namespace nodescope {

// A file that appears whole or not at all: it is written under a temporary name beside its place and renamed
// by commit().  Without commit(), and when a signal ends the program, nothing is left.
class OutputFile final : public ByteSink {
 public:
  static Result<std::unique_ptr<OutputFile>> create(const std::string& path);
  ~OutputFile() override;

  Result<void> write(std::string_view bytes) override;
  Result<void> commit();

 private:
  OutputFile(int fd, std::string path, std::string temporary_path);
  Result<void> flush();

  int fd_;
  std::string path_;
  std::string temporary_path_;
  std::string buffer_;
};

// A file that is there from the beginning and grows with every write, so that what was written stays whatever
// happens to the writer.  It replaces an older file of this name at once.
class GrowingFile final : public ByteSink {
 public:
  static Result<std::unique_ptr<GrowingFile>> create(const std::string& path);

  // After an error the file may end in the middle of `bytes`.
  Result<void> write(std::string_view bytes) override;

 private:
  GrowingFile(FileDescriptor fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}

  FileDescriptor fd_;
  std::string path_;
};

// Standard output.  A reader that has gone away (`| head`) ends the program quietly, by SIGPIPE.
class StandardOutput final : public ByteSink {
 public:
  Result<void> write(std::string_view bytes) override;
};

// Installs handlers that remove the unfinished output file when the program is interrupted or ended (SIGINT,
// SIGTERM, SIGHUP), and then let the signal do its work; SIGBUS, which a mapped input that shrinks causes,
// becomes a message.
void install_signal_handlers();

}  // namespace nodescope
