#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "os/file.h"

namespace nodescope {

// A note on this machine that something has to be put back, in a folder that only this user may write to.  It
// is locked for as long as its writer lives, so a later run can tell one that a killed program has left from
// one in use.
class RunMark {
 public:
  // `name` is a plain file name.
  static Result<RunMark> create(const std::string& name);
  RunMark(RunMark&&) noexcept = default;
  RunMark& operator=(RunMark&&) = delete;
  // What had to be put back has been.
  void remove();

 private:
  RunMark(FileDescriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  FileDescriptor file_;
  std::string path_;
};

// Whether there is one of this name, abandoned or in use.
bool has_mark(const std::string& name);
// The names of marks that begin with `prefix` and whose writer is gone.
std::vector<std::string> list_abandoned_marks(const std::string& prefix);
void remove_abandoned_mark(const std::string& name);

}  // namespace nodescope
