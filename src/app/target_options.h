#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "target/target_selection.h"

namespace CLI {
class App;
}

namespace nodescope {

// Which processes a live command is about, as typed.
struct TargetOptions {
  std::vector<std::string> targets;
  std::vector<std::int32_t> pids;
  std::int32_t tree = 0;

  TargetSpec spec() const;
};

enum class HowMany : bool { kOne, kMany };

// TARGET, -p PID and, where several processes make sense, --tree PID.
void add_target_options(CLI::App& command, TargetOptions& options, HowMany how_many);

}  // namespace nodescope
