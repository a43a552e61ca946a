#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "binary/elf_file.h"
#include "os/procfs.h"
#include "target/binary_versions.h"
#include "target/memory_map.h"

namespace nodescope {

// Tells which processes are Node.js, by V8's metadata in their program or in a library.  A file is read once,
// however many processes run it.
class NodeRecognizer {
 public:
  // Nothing: something else, or a process of the kernel.  An error: the process may not be looked at, or has
  // ended.
  Result<std::optional<BinaryVersions>> recognize(pid_t pid);

 private:
  struct Program {
    std::optional<BinaryVersions> versions;
    bool loads_libraries = false;
  };
  using Inode = std::pair<std::uint64_t, std::uint64_t>;
  using MappedFile = std::pair<std::string, std::uint64_t>;

  Result<Program> program_of(pid_t pid);
  Result<std::optional<BinaryVersions>> find_library(pid_t pid);

  // What /proc/PID/exe and what /proc/PID/maps say about one file differs on overlayfs: two tables.
  std::map<Inode, Program> programs_;
  std::map<MappedFile, std::optional<BinaryVersions>> libraries_;
};

}  // namespace nodescope
