#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "capture/inspector_client.h"
#include "capture/inspector_place.h"
#include "os/run_marks.h"

namespace nodescope {

// An inspector that was opened by SIGUSR1 and is to be closed again.
struct OpenedInspector {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;  // of the process, so that another one with its pid is not taken for it
};

enum class InspectorPort : std::uint8_t {
  kConfigured,  // where Node.js opens it
  kAnyFree,     // it is moved from there, because others need that port
};

// The way into the inspector of a process, which is put back as it was: one that was open stays open, one
// that we opened is closed.
class InspectorGate {
 public:
  // Finds the inspector among the sockets that the process itself listens on; where there is none, opens it
  // by SIGUSR1, but only after making sure that Node.js, and nobody else, handles that signal, and that no
  // other machine could connect.  kLimit: the port is taken.
  static Result<InspectorGate> open(pid_t pid, InspectorPort port = InspectorPort::kConfigured);
  // One at an address given by the user, on this or another machine.
  static Result<InspectorGate> at(const InspectorAddress& address);

  InspectorGate(InspectorGate&& other) noexcept;
  InspectorGate& operator=(InspectorGate&&) = delete;
  // Closes what close() has not.
  ~InspectorGate();

  Result<InspectorClient> connect() const;
  const InspectorAddress& address() const { return address_; }
  // Else it was open before, and stays so.
  bool opened_by_us() const { return opened_at_.has_value(); }
  // By a nodescope that was killed; we close it in its place.
  bool was_left_open() const { return was_left_open_; }
  // Workers of a cluster whose inspectors Node.js opens with that of their primary.
  std::size_t opened_workers() const { return workers_.size(); }

  // The process is about to end: close() gives it the time to do so.
  void expect_end() { expects_end_ = true; }
  // Nothing to do for one that was open before.  An error if it could not be closed, or not proven to be.
  Result<void> close();
  // How long it was open because of us.
  std::chrono::milliseconds open_time() const { return open_time_; }

 private:
  explicit InspectorGate(pid_t pid) : pid_(pid) {}

  bool find_open();
  bool await_open(std::chrono::milliseconds timeout);
  Result<void> take_over_left_open();
  Result<void> open_by_signal(const InspectorPlace& place);
  Result<void> move_to_free_port(InspectorPlace place);
  Result<void> mark();
  Result<void> expect_workers(const InspectorPlace& place);
  Result<void> close_here(std::string_view expression);
  friend Result<void> close_left_open(const OpenedInspector& opened);

  pid_t pid_;  // 0: only the address is known
  InspectorAddress address_;
  bool expects_end_ = false;
  bool is_exposed_ = false;                       // other machines can connect
  std::optional<std::uint16_t> configured_port_;  // that it was moved from
  bool was_left_open_ = false;
  std::optional<std::chrono::steady_clock::time_point> opened_at_;
  std::chrono::milliseconds open_time_{0};
  std::optional<RunMark> mark_;
  std::vector<InspectorGate> workers_;
};

// Inspectors that a nodescope has opened which was killed before it could close them.
std::vector<OpenedInspector> find_left_open();
// Closes one of them.
Result<void> close_left_open(const OpenedInspector& opened);

}  // namespace nodescope
