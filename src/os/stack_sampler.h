#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"

namespace nodescope {

// Takes samples of threads as perf's records of them: registers and a copy of the stack.
class StackSampler {
 public:
  StackSampler() = default;
  StackSampler(const StackSampler&) = delete;
  StackSampler& operator=(const StackSampler&) = delete;
  virtual ~StackSampler() = default;

  // Finds out what the user may see and the kernel knows, without sampling anything.
  virtual void settle_features() = 0;

  // Samples all threads that `pid` has and will have.  kNotFound when the process has ended.
  virtual Result<void> attach(pid_t pid) = 0;
  // The same for a process that is about to call exec, with all processes that it will start; sampling begins
  // with its exec.  After settle_features().
  virtual Result<void> attach_before_exec(pid_t pid) = 0;

  // False when only user code may be sampled.  Settled by settle_features(), or with the first event.
  virtual bool sees_kernel() const = 0;
  virtual std::uint64_t period_ns() const = 0;
  // The perf_event_attr: what is in a record.
  virtual std::span<const std::byte> attribute() const = 0;

  // Every record since the last call, with its header.  Valid until release().
  virtual std::span<const std::span<const std::byte>> collect() = 0;
  virtual void release() = 0;

  // What was counted since the beginning.
  struct Totals {
    std::uint64_t cpu_ns = 0;
    std::optional<std::uint64_t> lost_records;  // since Linux 6.0
  };
  virtual Totals read_totals() const = 0;

  virtual void stop() = 0;
};

// The registers in a record, AX BX CX DX SI DI BP SP IP and R8-R15 (arch/x86/include/uapi/asm/perf_regs.h).
inline constexpr std::uint64_t kSampledUserRegisters = 0x1FF | 0xFF0000;

}  // namespace nodescope
