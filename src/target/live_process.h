#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "target/live_memory.h"
#include "target/process.h"

namespace nodescope {

// The name that a thread gave itself; empty when it has ended.  That of the main thread is the process's.
std::string thread_name(pid_t pid, pid_t tid);

// How long it has been running, to the tick of a hundredth of a second; nothing when it has ended.
std::optional<std::uint64_t> process_age_ns(pid_t pid);

// A running process: what /proc tells about it.
class LiveProcess final : public TargetProcess {
 public:
  static Result<std::unique_ptr<LiveProcess>> open(pid_t pid);

  pid_t pid() const override { return pid_; }
  // The pid that it has for itself, inside of its container.
  pid_t innermost_pid() const { return innermost_pid_; }
  const std::optional<std::string>& container_id() const override { return container_id_; }
  const std::string& executable() const override { return executable_; }
  const MemoryMap& map() const override { return map_; }
  Result<void> refresh_map() override;
  Memory& memory() override { return memory_; }
  Result<std::unique_ptr<Standstill>> stop() override { return stop_within({}); }
  Result<std::unique_ptr<Standstill>> stop_within(const StopOptions& options) override;
  std::string thread_name(pid_t tid) const override { return nodescope::thread_name(pid_, tid); }

  // The file behind a region, as it was when it was mapped, also from inside of a container and when its name
  // is gone.
  Result<OwnedElf> open_image(const Region& region) const override;
  bool has_mapped(const Region& region, const ElfFile& file) const override;
  // A name under which we can open a mapped file, also when its own is gone or of a container.  Empty: it is
  // not mapped.
  std::string path_of_mapped(const std::string& device, std::uint64_t inode) const;

  // Not a link, and not another user's.
  Result<std::unique_ptr<ByteSource>> open_own_file(const std::string& path) const override;
  Result<std::unique_ptr<ByteSource>> open_perf_map() const override;

 private:
  explicit LiveProcess(pid_t pid) : pid_(pid), memory_(pid) {}

  Result<std::unique_ptr<ByteSource>> open_source(const Region& region) const;

  pid_t pid_;
  pid_t innermost_pid_ = 0;
  std::optional<std::string> container_id_;
  std::string executable_;
  MemoryMap map_;
  LiveMemory memory_;
};

}  // namespace nodescope
