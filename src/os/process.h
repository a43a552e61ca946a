#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace nodescope {

// Runs a program found on the PATH to its end and gives its exit code (128 + signal if one ended it).  Its
// standard output goes to our standard error, so that ours stays what the user asked for.
Result<int> run_program(const std::vector<std::string>& arguments);

// The same, with what it wrote to its standard output, up to 64 MB; its standard error is dropped.
Result<std::string> capture_program(const std::vector<std::string>& arguments);

// A folder of our own in $TMPDIR, removed with all its files at the end of its life.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> create();
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  const std::string& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

// Paths of the regular files in `folder` whose names end with `suffix`, sorted.
std::vector<std::string> files_in(const std::string& folder, std::string_view suffix);

}  // namespace nodescope
