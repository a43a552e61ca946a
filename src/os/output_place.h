#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>

#include "base/result.h"
#include "os/file.h"

namespace nodescope {

// Where an output file goes: a folder, held open, and a name in it.  Whoever may write to a folder on the way
// can put a link in it, or exchange what is there at any moment.  So links are followed only if they belong
// to root or to us, and everything is looked at through the descriptor that is then used.
class OutputPlace {
 public:
  static Result<OutputPlace> find(const std::string& path);

  int folder() const { return folder_.get(); }
  const std::string& name() const { return name_; }

  // A device, a FIFO or one of our own descriptors (/dev/null, /dev/stdout, process substitution) cannot be
  // replaced: it is written in place.  Otherwise a new file takes the place.
  bool is_special() const { return special_.is_open(); }
  Result<FileDescriptor> open_special() const;

  // The permissions of the file that will be replaced, if there is one.
  std::optional<mode_t> replaced_mode() const { return replaced_mode_; }

 private:
  struct Walk;

  OutputPlace(FileDescriptor folder, std::string name, std::string path)
      : folder_(std::move(folder)), name_(std::move(name)), path_(std::move(path)) {}

  FileDescriptor folder_;
  std::string name_;
  std::string path_;
  FileDescriptor special_;  // O_PATH, except for one of our own
  bool is_own_descriptor_ = false;
  std::optional<mode_t> replaced_mode_;
};

}  // namespace nodescope
