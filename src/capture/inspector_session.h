#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/coverage.h"
#include "capture/inspector_gate.h"
#include "model/profile.h"

namespace nodescope {

enum class InspectorProfile : std::uint8_t {
  kCpu,          // V8's CPU profiler
  kAllocations,  // V8's sampling heap profiler: what was allocated and is still alive at the end
  kCoverage,     // how often every function and block ran
};

struct InspectorOptions {
  InspectorProfile profile = InspectorProfile::kCpu;
  unsigned frequency_hz = 99;
  bool keep_originals = false;
  InspectorPort port = InspectorPort::kConfigured;
};

// What became of one process.
struct InspectedProcess {
  pid_t pid = 0;        // 0: only an address was given
  std::string address;  // "127.0.0.1:9229"
  bool opened = false;  // by us; else it was open before
  bool was_left_open = false;
  std::size_t opened_workers = 0;
  std::chrono::milliseconds open_time{0};
  std::size_t threads = 0;  // whose profiles are there
  std::string failure;      // why there is none, or why it could not be put back
};

struct InspectedThread {
  pid_t pid = 0;
  std::string process;  // its name
  std::string name;     // "main", or what V8 calls a worker
};

// A profile exactly as V8 wrote it.
struct OriginalProfile {
  InspectedThread thread;
  std::string text;
};

struct ThreadCoverage {
  InspectedThread thread;
  std::vector<CoveredScript> scripts;
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

  Profile take_profile() { return std::move(profile_); }
  const std::vector<InspectedProcess>& processes() const { return processes_; }
  std::size_t thread_count() const;
  std::vector<OriginalProfile> take_originals() { return std::move(originals_); }
  std::vector<ThreadCoverage> take_coverage() { return std::move(coverage_); }

 private:
  struct Target;

  Result<void> begin(pid_t pid, InspectorGate gate, InspectorClient client);
  Result<void> start(Target& target);
  void start_new_workers(Target& target);
  void collect(Target& target);
  void leave(Target& target);
  Result<void> take(const InspectedThread& thread, pid_t tid, const std::string& reply);
  Result<void> take_profile_of(const InspectedThread& thread, pid_t tid, const std::string& reply);

  InspectorOptions options_;
  Profile profile_;
  std::vector<OriginalProfile> originals_;
  std::vector<ThreadCoverage> coverage_;
  std::vector<std::unique_ptr<Target>> targets_;
  std::vector<InspectedProcess> processes_;
};

}  // namespace nodescope
