#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "os/file.h"

namespace nodescope {

// A place in a program file where a thread is noted when it comes by.
struct ProbePoint {
  std::string path;  // as we see it
  std::uint64_t file_offset = 0;
  bool at_return = false;   // of the function that begins there
  bool with_stack = false;  // its registers and a copy of its stack are taken too
};

// The registers of a hit with a stack, by the kernel's numbers (PERF_REG_X86_*): AX BX CX DX SI DI BP SP IP
// and R8-R15.
inline constexpr std::uint64_t kProbeRegisters = 0x1FF | 0xFF0000;

struct ProbeHit {
  std::uint64_t time_ns = 0;  // CLOCK_MONOTONIC
  std::size_t point = 0;
  pid_t tid = 0;
  std::uint64_t first = 0;  // the registers of the first three arguments, when it entered
  std::uint64_t second = 0;
  std::uint64_t third = 0;
  // Of a point with a stack: kProbeRegisters as words, and what is at the stack pointer.
  std::vector<std::byte> registers = {};
  std::vector<std::byte> stack = {};
};

// Notes when threads enter and leave functions (uprobes by perf_event_open).  The kernel puts a breakpoint
// there, for these processes alone, and takes it away when this ends, however it ends.
class FunctionProbes {
 public:
  explicit FunctionProbes(std::vector<ProbePoint> points);
  FunctionProbes(const FunctionProbes&) = delete;
  FunctionProbes& operator=(const FunctionProbes&) = delete;
  ~FunctionProbes();

  // kPermission unless the user may (CAP_SYS_ADMIN); kUnsupported where the kernel has no uprobes.
  Result<void> attach(pid_t tid);
  // What happened since the last call, by time; what came too fast is counted as lost.
  std::vector<ProbeHit> collect();
  std::uint64_t lost() const { return lost_; }

 private:
  struct Ring;

  void collect_ring(Ring& ring, std::vector<ProbeHit>& hits);

  std::vector<ProbePoint> points_;
  std::vector<std::unique_ptr<Ring>> rings_;
  std::uint64_t lost_ = 0;
};

}  // namespace nodescope
