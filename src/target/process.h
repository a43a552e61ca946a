#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "binary/elf_file.h"
#include "target/memory_map.h"

namespace nodescope {

// The name that a thread gave itself; empty when it has ended.  That of the main thread is the process's.
std::string thread_name(pid_t pid, pid_t tid);

// How long it has been running, to the tick of a hundredth of a second; nothing when it has ended.
std::optional<std::uint64_t> process_age_ns(pid_t pid);

// A running process: what /proc tells about it.
class LiveProcess {
 public:
  static Result<LiveProcess> open(pid_t pid);

  pid_t pid() const { return pid_; }
  // The pid that it has for itself, inside of its container.
  pid_t innermost_pid() const { return innermost_pid_; }
  const std::optional<std::string>& container_id() const { return container_id_; }
  const std::string& executable() const { return executable_; }

  const MemoryMap& map() const { return map_; }
  Result<void> refresh_map();

  // The file behind a region, as it was when it was mapped, also from inside of a container and when its name
  // is gone.
  Result<OwnedElf> open_image(const Region& region) const;

  // A file that the process writes about itself, as it names it inside of its container: not a link, and not
  // another user's.
  Result<std::unique_ptr<ByteSource>> open_own_file(const std::string& path) const;
  // kNotFound: it writes none.
  Result<std::unique_ptr<ByteSource>> open_perf_map() const;

  // Whether `file` is what is mapped there: a file may be replaced under the same name.
  bool has_mapped(const Region& region, const ElfFile& file) const;

 private:
  explicit LiveProcess(pid_t pid) : pid_(pid) {}

  Result<std::unique_ptr<ByteSource>> open_source(const Region& region) const;

  pid_t pid_;
  pid_t innermost_pid_ = 0;
  std::optional<std::string> container_id_;
  std::string executable_;
  MemoryMap map_;
};

// The binary that holds V8: the executable, or a library such as libnode.so.
struct NodeBinary {
  OwnedElf elf;
  std::string path;
  std::string device;
  std::uint64_t inode = 0;
};

// V8's embedders export its layout for debuggers, as symbols v8dbg_*: that makes a binary one of them,
// whatever its name is.
bool has_v8_metadata(const ElfFile& file);

// kUnsupported when no mapped binary holds V8.
Result<NodeBinary> find_node_binary(const LiveProcess& process);

}  // namespace nodescope
