#include "capture/off_cpu.h"

#include <algorithm>
#include <array>
#include <utility>

#include "model/waiting.h"

namespace nodescope {

namespace {

using NamedReason = std::pair<std::string_view, WaitReason>;

// Beginnings of the names of Linux's functions, 5.4 to 6.18; the first function that has one decides, and of
// several the longest.
constexpr auto kReasons = std::to_array<NamedReason>({
    {"anon_pipe_", WaitReason::kPipe},
    {"bit_wait_io", WaitReason::kDisk},
    {"blk_", WaitReason::kDisk},
    {"do_epoll_wait", WaitReason::kEventLoop},
    {"do_futex", WaitReason::kLock},
    {"do_nanosleep", WaitReason::kSleep},
    {"do_poll", WaitReason::kEventLoop},
    {"do_select", WaitReason::kEventLoop},
    {"do_user_addr_fault", WaitReason::kMemory},
    {"do_wait", WaitReason::kChild},
    {"ep_poll", WaitReason::kEventLoop},
    {"fifo_open", WaitReason::kPipe},
    {"filemap_", WaitReason::kDisk},
    {"folio_wait", WaitReason::kDisk},
    {"futex_", WaitReason::kLock},
    {"handle_mm_fault", WaitReason::kMemory},
    {"hrtimer_nanosleep", WaitReason::kSleep},
    {"io_schedule", WaitReason::kDisk},
    {"jbd2_", WaitReason::kDisk},
    {"kernel_wait4", WaitReason::kChild},
    {"pipe_read", WaitReason::kPipe},
    {"pipe_wait", WaitReason::kPipe},
    {"pipe_write", WaitReason::kPipe},
    {"sk_wait_data", WaitReason::kSocket},
    {"unix_stream_", WaitReason::kSocket},
    {"unix_wait_", WaitReason::kSocket},
    {"wait_for_partner", WaitReason::kPipe},
    {"wait_on_page", WaitReason::kDisk},
});

}  // namespace

std::string_view to_frame(WaitReason reason) {
  constexpr std::array<std::string_view, 11> kNames = {"[waits]",
                                                       kReadyFrame,
                                                       kIdleWaitFrame,
                                                       "[waits for a lock]",
                                                       "[waits for a pipe]",
                                                       "[waits for a socket]",
                                                       "[waits for a child]",
                                                       "[waits for a disk]",
                                                       "[sleeps]",
                                                       "[waits for memory]",
                                                       "[waits for DNS]"};
  return kNames[static_cast<std::size_t>(reason)];
}

WaitReason wait_reason_of(std::span<const std::string_view> kernel_functions) {
  for (const std::string_view function : kernel_functions) {
    const auto found = std::ranges::find_if(
        kReasons, [&](const NamedReason& reason) { return function.starts_with(reason.first); });
    if (found != kReasons.end()) return found->second;
  }
  return WaitReason::kUnknown;
}

std::optional<WaitReason> reason_of_events(std::string_view native_function) {
  if (native_function.starts_with("node::SyncProcessRunner::")) return WaitReason::kChild;
  if (native_function == "uv__getaddrinfo_work" || native_function == "uv__getnameinfo_work")
    return WaitReason::kName;
  return std::nullopt;
}

void WaitTracker::leave(pid_t tid, const Wait& wait) {
  open_[static_cast<std::uint32_t>(tid)] = wait;
}

void WaitTracker::preempted(pid_t tid) {
  const auto found = open_.find(static_cast<std::uint32_t>(tid));
  if (found != open_.end()) found->second.reason = WaitReason::kNoCpu;
}

std::optional<Wait> WaitTracker::come_back(pid_t tid, std::int64_t time_ns) {
  const auto found = open_.find(static_cast<std::uint32_t>(tid));
  if (found == open_.end()) {
    ++without_begin_;
    return std::nullopt;
  }
  Wait wait = found->second;
  open_.erase(found);
  if (time_ns < wait.begin_ns) return std::nullopt;
  wait.duration_ns = time_ns - wait.begin_ns;
  return wait;
}

std::vector<Wait> WaitTracker::end(std::int64_t time_ns) {
  std::vector<Wait> waits;
  for (auto& [tid, wait] : open_) {
    wait.duration_ns = std::max<std::int64_t>(0, time_ns - wait.begin_ns);
    waits.push_back(wait);
  }
  open_.clear();
  std::ranges::sort(waits, {}, &Wait::begin_ns);
  return waits;
}

}  // namespace nodescope
