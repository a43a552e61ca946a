#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/flat_map.h"
#include "base/result.h"
#include "binary/unwinder.h"
#include "capture/collections.h"
#include "model/profile.h"
#include "os/function_probes.h"

namespace nodescope {

// Measures the pauses of V8's collector by probes on its functions, where the user may set them and the
// binary has its symbols.
class CollectionWatch {
 public:
  // Measures on a thread from now on.
  Result<void> watch(pid_t pid, pid_t tid);
  // Else its collections are in the samples only.
  bool measures(pid_t pid) const;

  // Makes a stack of what a thread had in its registers and on its stack.
  using BuildStack = std::function<StackId(pid_t pid, const RegisterSet& registers, StackSnapshot snapshot)>;
  std::vector<Collection> take(const BuildStack& build);

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

// "mark-compact: allocation limit, in buildRows /app/rows.js:12".
std::string describe_collection(const Profile& profile, const Collection& collection);

}  // namespace nodescope
