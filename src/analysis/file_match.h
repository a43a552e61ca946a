#pragma once

#include <string_view>
#include <vector>

#include "base/flat_map.h"

namespace nodescope {

// Which source files of two builds are the same: from a path of the first to the path that the second has.
// Equal paths first; files of a package by what follows the last node_modules; others by the longest tail of
// their paths that is common to one file of each side only: "/releases/41/lib/rows.js" and
// "/releases/42/lib/rows.js".  A hash in the name of a bundle ("main-4f3a2b1c.js") is not a difference.
// A path occurs at most once on each side of the result.  The texts belong to the caller.
using FileMatch = FlatMap<std::string_view, std::string_view>;

FileMatch match_files(const std::vector<std::string_view>& before,
                      const std::vector<std::string_view>& after);

}  // namespace nodescope
