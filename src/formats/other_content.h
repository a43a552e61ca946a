#pragma once

#include <string_view>

namespace nodescope {

// What content is that no reader is for, and what would help; empty if that cannot be told.  Some texts of
// other profilers look like folded stacks or like perf script, so this is asked before those formats are.
std::string_view known_other_content(std::string_view head);

}  // namespace nodescope
