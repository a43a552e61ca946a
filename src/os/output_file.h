#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/byte_sink.h"
#include "base/result.h"
#include "os/file.h"
#include "os/output_place.h"

namespace nodescope {

// Who may read a new file.  One that replaces another is readable to nobody who could not read that.
enum class Readers : std::uint8_t {
  kByUmask,
  kOwner,  // it holds what not everybody should see: sources, arguments, strings of a heap
};

// A new file beside its place, under a name that nobody knew before.  It takes its place by move_in, or
// vanishes with this object, and when a signal ends the program.
class TemporaryFile {
 public:
  static Result<TemporaryFile> create(OutputPlace place, const std::string& path);
  TemporaryFile(TemporaryFile&& other) noexcept;
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile();

  int fd() const { return fd_.get(); }
  // Until then only the owner may read it.
  Result<void> move_in(Readers readers);
  // After that: false when somebody removed it or put another file in its place.
  bool is_in_place() const;

 private:
  TemporaryFile(OutputPlace place, FileDescriptor fd, std::string name, std::string path)
      : place_(std::move(place)), fd_(std::move(fd)), name_(std::move(name)), path_(std::move(path)) {}

  OutputPlace place_;
  FileDescriptor fd_;
  std::string name_;  // empty: it has moved
  std::string path_;
};

// A file that appears whole or not at all: it is written under a temporary name beside its place and renamed
// by commit().  Without commit(), and when a signal ends the program, nothing is left.
class OutputFile final : public ByteSink {
 public:
  static Result<std::unique_ptr<OutputFile>> create(const std::string& path,
                                                    Readers readers = Readers::kByUmask);

  Result<void> write(std::string_view bytes) override;
  // As many zeros; in a file they take no room.
  Result<void> skip(std::uint64_t bytes);
  // For what turned out to hold what not everybody should see.
  void restrict_readers() { readers_ = Readers::kOwner; }
  Result<void> commit();

 private:
  OutputFile(std::string path, FileDescriptor in_place, std::optional<TemporaryFile> temporary,
             Readers readers)
      : path_(std::move(path)),
        in_place_(std::move(in_place)),
        temporary_(std::move(temporary)),
        readers_(readers) {}
  Result<void> flush();
  int fd() const { return temporary_ ? temporary_->fd() : in_place_.get(); }

  std::string path_;
  FileDescriptor in_place_;
  std::optional<TemporaryFile> temporary_;
  Readers readers_;
  std::string buffer_;
  bool ends_with_hole_ = false;
};

// A file that is there from the beginning and grows with every write, so that what was written stays whatever
// happens to the writer.  It replaces an older file of this name at once.
class GrowingFile final : public ByteSink {
 public:
  static Result<std::unique_ptr<GrowingFile>> create(const std::string& path,
                                                     Readers readers = Readers::kByUmask);

  // After an error the file may end in the middle of `bytes`.
  Result<void> write(std::string_view bytes) override;
  // kNotFound: somebody has removed or replaced the file since it was made.
  Result<void> check_is_there() const;

 private:
  GrowingFile(std::string path, FileDescriptor in_place, std::optional<TemporaryFile> file)
      : path_(std::move(path)), in_place_(std::move(in_place)), file_(std::move(file)) {}

  std::string path_;
  FileDescriptor in_place_;
  std::optional<TemporaryFile> file_;
};

// Whether a file could be written there, before the work that makes its content.
Result<void> check_output(const std::string& path);

// Standard output.  A reader that has gone away (`| head`) ends the program quietly, by SIGPIPE.
class StandardOutput final : public ByteSink {
 public:
  Result<void> write(std::string_view bytes) override;
};

// Installs handlers that remove the unfinished output file and put the terminal back when the program is
// interrupted or ended (SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT; those that are ignored stay so), and then
// let the signal do its work; SIGBUS, which a mapped input that shrinks causes, becomes a message.
void install_signal_handlers();

}  // namespace nodescope
