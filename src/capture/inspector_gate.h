#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "capture/inspector_client.h"
#include "os/run_marks.h"

namespace nodescope {

// Where an inspector listens, and the path of its one target there.
struct InspectorAddress {
  std::string host;
  std::uint16_t port = 0;
  std::string path;

  bool operator==(const InspectorAddress&) const = default;
};

// "ws://127.0.0.1:9229/0f2c…", as Node.js prints it.
Result<InspectorAddress> parse_inspector_url(std::string_view url);

// The target in the answer to /json/list; nothing where that is no list of an inspector.
std::optional<std::string> parse_target_path(std::string_view answer);

// On which port SIGUSR1 would open the inspector, by the arguments and NODE_OPTIONS of a process.
std::uint16_t inspector_port_of(std::string_view command_line, std::string_view environment);

// An inspector that was opened by SIGUSR1 and is to be closed again.
struct OpenedInspector {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;  // of the process, so that another one with its pid is not taken for it
};

// The way into the inspector of a process, which is put back as it was: one that was open stays open, one
// that we opened is closed.
class InspectorGate {
 public:
  // Finds the inspector among the sockets that the process itself listens on; where there is none, opens it
  // by SIGUSR1, but only after making sure that Node.js, and nobody else, handles that signal.
  static Result<InspectorGate> open(pid_t pid);
  // One at an address given by the user, on this or another machine.
  static Result<InspectorGate> at(const InspectorAddress& address);

  InspectorGate(InspectorGate&& other) noexcept;
  InspectorGate& operator=(InspectorGate&&) = delete;
  // Closes what close() has not.
  ~InspectorGate();

  Result<InspectorClient> connect() const;
  const InspectorAddress& address() const { return address_; }
  bool opened_by_us() const { return opened_at_.has_value(); }

  // Nothing to do for one that was open before.  An error if it could not be closed, or not proven to be.
  Result<void> close();
  // How long it was open because of us.
  std::chrono::milliseconds open_time() const { return open_time_; }

 private:
  explicit InspectorGate(pid_t pid) : pid_(pid) {}

  Result<void> open_by_signal();
  bool find_open();
  friend Result<void> close_left_open(const OpenedInspector& opened);

  pid_t pid_;  // 0: only the address is known
  InspectorAddress address_;
  std::optional<std::chrono::steady_clock::time_point> opened_at_;
  std::chrono::milliseconds open_time_{0};
  std::optional<RunMark> mark_;
};

// Inspectors that a nodescope has opened which was killed before it could close them.
std::vector<OpenedInspector> find_left_open();
// Closes one of them.
Result<void> close_left_open(const OpenedInspector& opened);

}  // namespace nodescope
