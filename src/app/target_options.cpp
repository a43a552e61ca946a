#include "app/target_options.h"

#include <CLI/CLI.hpp>

namespace nodescope {

TargetSpec TargetOptions::spec() const {
  TargetSpec spec;
  spec.targets = targets;
  spec.pids.assign(pids.begin(), pids.end());
  if (tree != 0) spec.tree = tree;
  return spec;
}

void add_target_options(CLI::App& command, TargetOptions& options, HowMany how_many) {
  const bool one = how_many == HowMany::kOne;
  CLI::Option* target = command.add_option(
      "TARGET", options.targets,
      "A pid; a pattern in the script, the title, pm2's or the program's name; a container's name or the "
      "beginning of its id; "
      "a cgroup's path. The prefixes name:, container: and cgroup: leave no choice");
  CLI::Option* pid = command.add_option("-p,--pid", options.pids, "The process, as for perf and py-spy");
  target->type_name("");
  pid->type_name("PID");
  if (one) {
    target->expected(0, 1);
    pid->expected(1);
    return;
  }
  command
      .add_option("--tree", options.tree, "This process and all below it that are Node.js: a cluster, pm2")
      ->type_name("PID");
}

}  // namespace nodescope
