#pragma once

#include <string_view>

namespace nodescope {

// What stackcollapse-perf.pl writes behind the name of a frame: of the kernel, of a just-in-time compiler,
// inlined.
constexpr std::string_view kKernelMark = "_[k]";
constexpr std::string_view kJitMark = "_[j]";
constexpr std::string_view kInlinedMark = "_[i]";

// The module of a frame that is marked as just-in-time compiled: stands for the perf-PID.map that such a line
// does not name.
constexpr std::string_view kJitModule = "[jit]";

}  // namespace nodescope
