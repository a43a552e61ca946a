#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "os/file.h"

namespace nodescope {

// Runs a program found on the PATH to its end and gives its exit code (128 + signal if one ended it).  Its
// standard output goes to our standard error, so that ours stays what the user asked for.
Result<int> run_program(const std::vector<std::string>& arguments);

// The same, with what it wrote to its standard output, up to 64 MB; its standard error is dropped.
Result<std::string> capture_program(const std::vector<std::string>& arguments);

// Starts a program of its own, away from our terminal and its Ctrl-C, and does not wait for it.
Result<pid_t> start_detached(const std::vector<std::string>& arguments);

// How a program that we started has ended: its exit code, 128 and more for a signal.  Nothing while it runs,
// and after it was told once.
std::optional<int> take_exit_code(pid_t pid);

// Where a program of this name is, by the PATH unless the name is a path itself.
std::optional<std::string> find_program(std::string_view name);
inline bool has_program(std::string_view name) {
  return find_program(name).has_value();
}

// A program that waits before its first instruction until it is let go, so that it can be watched from the
// beginning.  It shares our terminal, except for what it says on its standard output if that is not wanted.
class HeldProgram {
 public:
  enum class Output : bool { kShown, kDropped };
  static Result<HeldProgram> start(const std::vector<std::string>& arguments, Output output = Output::kShown);
  HeldProgram(HeldProgram&& other) noexcept;
  HeldProgram& operator=(HeldProgram&&) = delete;
  // Ends it if it is still running.
  ~HeldProgram();

  pid_t pid() const { return pid_; }
  // kNotFound when there is no such program.
  Result<void> let_go();
  // Its exit code (128 + signal if one ended it); nothing while it is running.
  std::optional<int> exit_code();
  // SIGTERM, then SIGKILL when it does not end within some seconds.
  void end();

 private:
  HeldProgram(pid_t pid, std::string name, FileDescriptor go, FileDescriptor failed)
      : pid_(pid), name_(std::move(name)), go_(std::move(go)), failed_(std::move(failed)) {}

  pid_t pid_;
  std::string name_;
  FileDescriptor go_;      // a byte: it may begin; closed before: it ends
  FileDescriptor failed_;  // gets errno when it cannot
  std::optional<int> exit_code_;
};

// What this process has used so far.
std::uint64_t own_cpu_ns();

// $TMPDIR, or /tmp.
std::string temporary_folder();

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
