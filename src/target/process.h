#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/byte_source.h"
#include "base/result.h"
#include "binary/elf_file.h"
#include "binary/unwinder.h"
#include "os/ptrace.h"
#include "target/memory.h"
#include "target/memory_map.h"

namespace nodescope {

struct TargetThread {
  pid_t tid = 0;
  RegisterSet registers;
  std::uint64_t thread_pointer = 0;  // fs_base; 0: not known
};

// The threads of a process that stands still for as long as this lives.
class Standstill {
 public:
  virtual ~Standstill() = default;
  virtual std::span<const TargetThread> threads() const = 0;
  // Those that did not stop within the deadline: they are in uninterruptible sleep.
  virtual std::span<const pid_t> not_stopped() const { return {}; }
  // Lets the process go on and returns for how long it stood still: 0 for one that is dead.
  virtual std::uint64_t resume_ns() = 0;
  // After that: the process had gone on before, so what was read may be of different moments.
  virtual bool was_cut_short() const { return false; }
};

// A process, alive or dead: what is mapped in it, its memory, its threads, and the files behind them.
class TargetProcess {
 public:
  virtual ~TargetProcess() = default;

  virtual pid_t pid() const = 0;
  virtual const std::string& executable() const = 0;
  virtual const std::optional<std::string>& container_id() const = 0;

  virtual const MemoryMap& map() const = 0;
  // Reads the map again where it may have changed.
  virtual Result<void> refresh_map() = 0;
  virtual Memory& memory() = 0;
  virtual Result<std::unique_ptr<Standstill>> stop() = 0;
  virtual Result<std::unique_ptr<Standstill>> stop_within(const StopOptions&) { return stop(); }
  // The name that the thread gave itself; empty when it is not known.
  virtual std::string thread_name(pid_t tid) const = 0;

  // The binary that a region was mapped from.
  virtual Result<OwnedElf> open_image(const Region& region) const = 0;
  // Whether `file` is what is mapped there: a file may be replaced under the same name.
  virtual bool has_mapped(const Region& region, const ElfFile& file) const = 0;

  // A file that the process writes about itself, as it names it inside of its container.
  virtual Result<std::unique_ptr<ByteSource>> open_own_file(const std::string& path) const = 0;
  // kNotFound: it writes none.
  virtual Result<std::unique_ptr<ByteSource>> open_perf_map() const = 0;
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
Result<NodeBinary> find_node_binary(const TargetProcess& process);

}  // namespace nodescope
