#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/flat_map.h"
#include "model/profile.h"

namespace nodescope {

// What a thread waits for while it is on no CPU.
enum class WaitReason : std::uint8_t {
  kUnknown,
  kNoCpu,      // ready to run
  kEventLoop,  // epoll, select
  kLock,       // futex
  kPipe,
  kSocket,
  kChild,
  kDisk,
  kSleep,
  kMemory,  // a page that has to be read or made
  kName,    // a name server's answer
};
// "[waits for a lock]": how a frame says it.
std::string_view to_frame(WaitReason reason);

// What a native function of Node.js or libuv below the kernel's tells of waiting for events: for a child
// (`execSync` has a loop of its own), or for the answer of a name server.
std::optional<WaitReason> reason_of_events(std::string_view native_function);

// By the names of the kernel's functions, innermost first.
WaitReason wait_reason_of(std::span<const std::string_view> kernel_functions);

// A time in which a thread was on no CPU.
struct Wait {
  std::int64_t begin_ns = 0;
  std::int64_t duration_ns = 0;
  StackId stack;  // without a frame for the reason
  SampleContext context;
  WaitReason reason = WaitReason::kUnknown;
};

// Makes waits of the moments at which threads leave a CPU, with a stack, and come back.
class WaitTracker {
 public:
  void leave(pid_t tid, const Wait& wait);
  // It did not leave by itself: another thread got its CPU.
  void preempted(pid_t tid);
  // Nothing when it is not known where it was.
  std::optional<Wait> come_back(pid_t tid, std::int64_t time_ns);
  // Those that still last at `time_ns`.
  std::vector<Wait> end(std::int64_t time_ns);

  std::uint64_t without_begin() const { return without_begin_; }

 private:
  FlatMap<std::uint32_t, Wait> open_;  // by tid
  std::uint64_t without_begin_ = 0;
};

}  // namespace nodescope
