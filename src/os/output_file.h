#pragma once

#include <memory>
#include <string>

#include "base/byte_sink.h"
#include "base/result.h"

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
