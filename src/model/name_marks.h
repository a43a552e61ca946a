#pragma once

#include <string_view>

namespace nodescope {

// What stackcollapse-perf.pl writes behind the name of a frame: of the kernel, of a just-in-time compiler,
// inlined.
constexpr std::string_view kKernelMark = "_[k]";
constexpr std::string_view kJitMark = "_[j]";
constexpr std::string_view kInlinedMark = "_[i]";

// What stands before the name of an asynchronous caller.
constexpr std::string_view kAsyncMark = "async ";

// The module of JavaScript that its source map calls none of the program's own (ignoreList), by which it is
// told from that where no package is in its path.
constexpr std::string_view kIgnoredModule = "[ignored]";

// The module of a frame that is marked as just-in-time compiled: stands for the perf-PID.map that such a line
// does not name.
constexpr std::string_view kJitModule = "[jit]";

}  // namespace nodescope
