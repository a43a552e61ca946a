#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/result.h"

namespace nodescope {

// Which file, whatever its names are.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size_bytes = 0;

  bool operator==(const FileIdentity&) const = default;
};

pid_t own_pid();

// All processes that /proc shows, sorted.
Result<std::vector<pid_t>> list_processes();

// "/proc/PID/NAME", whole.  Such files are small; what is beyond 64 MiB is an error.
Result<std::string> read_proc_file(pid_t pid, std::string_view name);

// Where the link /proc/PID/NAME (exe, cwd, root) points.
Result<std::string> read_proc_link(pid_t pid, std::string_view name);

enum class ProcessState : std::uint8_t {
  kRunning,  // or waiting
  kStopped,  // by a signal or a debugger
  kEnded,    // with all its threads, and its parent has not asked for it yet
  kGone,     // there is none
};
ProcessState process_state(pid_t pid);

inline bool is_running(pid_t pid) {
  const ProcessState state = process_state(pid);
  return state == ProcessState::kRunning || state == ProcessState::kStopped;
}

std::string kernel_release();
std::string host_name();

// All threads of a process now, sorted.
Result<std::vector<pid_t>> list_threads(pid_t pid);

// The file that is mapped at "BEGIN-END" (as in /proc/PID/maps), also when its name is gone.  Needs more
// privilege than most of /proc.
Result<std::unique_ptr<ByteSource>> open_mapped_file(pid_t pid, std::string_view range);

// The program of the process, also when its name is gone.
Result<std::unique_ptr<ByteSource>> open_executable(pid_t pid);

// The file that open_executable would open.  kNotFound for a process of the kernel and for one that has
// ended.
Result<FileIdentity> identify_executable(pid_t pid);

// `path` as the process sees it: below its root folder, out of which neither links nor ".." lead.
Result<std::unique_ptr<ByteSource>> open_in_root(pid_t pid, const std::string& path);

// The root folder of the process; two containers have two.
Result<FileIdentity> identify_root(pid_t pid);

// As open_in_root, for a file that the process writes about itself, in a folder where anybody may put one
// (/tmp): not a link, and it must belong to the process's user or to root.
Result<std::unique_ptr<ByteSource>> open_own_file_in_root(pid_t pid, const std::string& path);

}  // namespace nodescope
