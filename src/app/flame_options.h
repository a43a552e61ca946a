#pragma once

#include <string>

#include "base/result.h"
#include "render/flame_svg.h"

namespace CLI {
class App;
}

namespace nodescope {

// flamegraph.pl's options as typed; parse_flame_flags gives them their meaning.
struct FlameFlags {
  FlameOptions options;
  std::string colours;
  std::string min_width;
  std::string total;
  std::string name_attribute_file;
  std::string palette_file = "palette.map";
  bool hash = false;
  bool random = false;
};

void add_flame_flags(CLI::App& command, FlameFlags& flags);

// Reads the files that the flags name: palette.map of --cp, and --nameattr.
Result<FlameOptions> parse_flame_flags(const FlameFlags& flags);

// Writes palette.map back, with --cp.
Result<void> save_palette(const FlameFlags& flags, const ConsistentPalette& palette);

}  // namespace nodescope
