#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/inspector_gate.h"
#include "model/profile.h"

namespace nodescope {

enum class InspectorProfile : std::uint8_t {
  kCpu,          // V8's CPU profiler
  kAllocations,  // V8's sampling heap profiler: what was allocated and is still alive at the end
};

struct InspectorOptions {
  InspectorProfile profile = InspectorProfile::kCpu;
  unsigned frequency_hz = 99;
};

// What became of one process.
struct InspectedProcess {
  pid_t pid = 0;        // 0: only an address was given
  std::string address;  // "127.0.0.1:9229"
  bool opened = false;  // by us; else it was open before
  std::chrono::milliseconds open_time{0};
  std::size_t threads = 0;  // whose profiles are there
  std::string failure;      // why there is none, or why it could not be put back
};

// Records processes by V8's own profilers, which their inspectors offer.
class InspectorSession {
 public:
  explicit InspectorSession(const InspectorOptions& options);
  InspectorSession(const InspectorSession&) = delete;
  InspectorSession& operator=(const InspectorSession&) = delete;
  ~InspectorSession();

  // The main thread and all workers are profiled from now on.
  Result<void> attach(pid_t pid);
  Result<void> attach(const InspectorAddress& address);

  // Workers may have come.  To be called every tenth of a second or so.
  void poll();
  // Whether any of the processes can still be talked to.
  bool has_targets() const;
  // Collects the profiles and puts every inspector back as it was.
  void finish();

  const Profile& profile() const { return profile_; }
  Profile take_profile() { return std::move(profile_); }
  const std::vector<InspectedProcess>& processes() const { return processes_; }

 private:
  struct Target;

  Result<void> begin(pid_t pid, InspectorGate gate, InspectorClient client);
  Result<void> start(Target& target);
  Result<void> start_profiler(Target& target, const std::string& worker);
  void start_new_workers(Target& target);
  void collect(Target& target);
  Result<void> collect_thread(Target& target, const std::string& worker, const std::string& name);

  InspectorOptions options_;
  Profile profile_;
  std::vector<std::unique_ptr<Target>> targets_;
  std::vector<InspectedProcess> processes_;
};

}  // namespace nodescope
