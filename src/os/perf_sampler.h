#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/flat_map.h"
#include "base/result.h"
#include "os/file.h"

namespace nodescope {

enum class SampledMoment : std::uint8_t {
  kClock,     // so many times a second while they run
  kLeaveCpu,  // each time that they leave a CPU; records of the type kSwitch say when they come back
};

struct PerfSamplerOptions {
  unsigned frequency_hz = 99;
  // Of the user stack, copied with each sample.  The outermost JavaScript frame of a compiler at work is
  // 14 KB (median) to 26 KB from the stack pointer, that of a test runner above 48 KB.  A record cannot be
  // larger than 64 KiB: the kernel takes what is left in it beside the registers and its own call chain.
  std::uint32_t stack_bytes = 64 * 1024 - 8;
  bool follow_children = false;
  SampledMoment moment = SampledMoment::kClock;
};

// Samples threads while they are on a CPU: their registers, a copy of their stack and the kernel's call chain
// (perf_event_open, cpu-clock).  Nothing is done to the threads beyond the interrupt.
//
// There is an event for every thread and CPU, because only these are inherited by new threads, and a ring
// buffer for every CPU, which all events of that CPU write to.
class PerfSampler {
 public:
  explicit PerfSampler(const PerfSamplerOptions& options);
  PerfSampler(PerfSampler&&) noexcept;
  ~PerfSampler();

  // Finds out what the user may see and the kernel knows, without sampling anything.
  void settle_features();

  // Samples all threads that `pid` has and will have.  What the user may not see is left out (see
  // sees_kernel).  kNotFound when the process has ended.
  Result<void> attach(pid_t pid);
  // The same for a process that is about to call exec, with all processes that it will start; sampling begins
  // with its exec.  After settle_features().
  Result<void> attach_before_exec(pid_t pid);

  // False when only user code may be sampled.  Settled by settle_features(), or with the first event.
  bool sees_kernel() const;
  std::uint64_t period_ns() const;
  // The perf_event_attr: what is in a record.
  std::span<const std::byte> attribute() const;

  // Every record that the kernel has written since the last call, with its header, CPU by CPU.  Valid until
  // release(), which gives the room back to the kernel.
  std::span<const std::span<const std::byte>> collect();
  void release();

  // What the kernel counted since the beginning.
  struct Totals {
    std::uint64_t cpu_ns = 0;
    std::optional<std::uint64_t> lost_records;  // since Linux 6.0
  };
  Totals read_totals() const;

  void stop();

 private:
  struct Attribute;
  struct Ring;

  Result<FileDescriptor> open_event(pid_t tid, int cpu);
  bool give_up_a_feature(int number);
  Result<bool> attach_thread(pid_t tid, int cpu);
  Result<void> attach_ring(const FileDescriptor& event, int cpu);
  void collect_ring(Ring& ring);

  PerfSamplerOptions options_;
  std::unique_ptr<Attribute> attribute_;
  std::vector<int> cpus_;
  std::vector<std::unique_ptr<Ring>> rings_;  // by index in cpus_; null: not yet
  std::vector<FileDescriptor> events_;
  FlatMap<std::uint64_t, bool> attached_;  // by tid
  std::vector<std::span<const std::byte>> records_;
};

}  // namespace nodescope
