#pragma once

#include <sys/types.h>

#include <memory>
#include <vector>

#include "base/flat_map.h"
#include "base/result.h"
#include "capture/collections.h"
#include "os/function_probes.h"

namespace nodescope {

// Measures the pauses of V8's collector by probes on its functions, where the user may set them and the
// binary has its symbols.
class CollectionWatch {
 public:
  // Measures on a thread from now on.
  Result<void> watch(pid_t pid, pid_t tid);
  std::vector<Collection> take();

 private:
  struct Target {
    explicit Target(pid_t pid) : tracker(pid) {}

    std::unique_ptr<FunctionProbes> probes;  // null: they cannot be set
    std::vector<CollectionTracker::Point> points;
    std::vector<pid_t> threads;
    CollectionTracker tracker;
  };

  static Result<void> prepare(pid_t pid, Target& target);

  FlatMap<std::uint32_t, std::unique_ptr<Target>> targets_;  // by pid
};

}  // namespace nodescope
