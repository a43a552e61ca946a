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
#include "os/stack_sampler.h"

namespace nodescope {

enum class SampledMoment : std::uint8_t {
  kClock,     // so many times a second while they run
  kLeaveCpu,  // each time that they leave a CPU; records of the type kSwitch say when they come back
};

struct PerfSamplerOptions {
  unsigned frequency_hz = 99;
  // Of the user stack, copied with each sample.  The outermost JavaScript frame of a compiler at work is
  // 14 KB (median) to 26 KB from the stack pointer; a record cannot be larger than 64 KiB.
  std::uint32_t stack_bytes = 48 * 1024;
  bool follow_children = false;
  SampledMoment moment = SampledMoment::kClock;
};

// Samples threads while they are on a CPU: their registers, a copy of their stack and the kernel's call chain
// (perf_event_open, cpu-clock).  Nothing is done to the threads beyond the interrupt.
//
// There is an event for every thread and CPU, because only these are inherited by new threads, and a ring
// buffer for every CPU, which all events of that CPU write to.
class PerfSampler final : public StackSampler {
 public:
  explicit PerfSampler(const PerfSamplerOptions& options);
  ~PerfSampler() override;

  void settle_features() override;
  // What the user may not see is left out (see sees_kernel).
  Result<void> attach(pid_t pid) override;
  Result<void> attach_before_exec(pid_t pid) override;

  bool sees_kernel() const override;
  std::uint64_t period_ns() const override;
  std::span<const std::byte> attribute() const override;

  // CPU by CPU; release() gives the room back to the kernel.
  std::span<const std::span<const std::byte>> collect() override;
  void release() override;
  Totals read_totals() const override;
  void stop() override;

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
