#pragma once

#include <sys/types.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "target/node_processes.h"

namespace nodescope {

// Which processes a command is about, as typed.
struct TargetSpec {
  // Each a pid; a cgroup's path; a container's name or the beginning of its id; a regular expression that is
  // found in the script (as typed, or its whole path), the title, pm2's name or the program's own.  The first
  // of these that something matches counts; "cgroup:", "container:" and "name:" in front leave no choice.
  std::vector<std::string> targets;
  std::vector<pid_t> pids;    // -p
  std::optional<pid_t> tree;  // --tree: this one and all below it that are Node.js

  bool empty() const { return targets.empty() && pids.empty() && !tree; }
};

// All of them, each once, by pid.  A pid is taken as it is, Node.js or not; everything else finds Node.js
// only. Never empty: what matches nothing is an error.
Result<std::vector<pid_t>> select_targets(const TargetSpec& spec);

// For a command that takes one process: several are an error that lists them.
Result<pid_t> select_one_target(const TargetSpec& spec);

// Those of `processes` that `target`, which is no pid, means; empty: none.
Result<std::vector<const NodeProcess*>> match_target(std::span<const NodeProcess> processes,
                                                     std::string_view target);

}  // namespace nodescope
