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

// Before the name of an asynchronous caller, which stands where a function waits: "async handler".  The other
// stands for callers that could not be told any more.
constexpr std::string_view kAsyncMark = "async ";
constexpr std::string_view kAsyncCallersLost = "[asynchronous callers lost]";

constexpr bool is_async_caller(std::string_view function) {
  return function.starts_with(kAsyncMark) || function == kAsyncCallersLost;
}

// The fact of a profile that its stacks may have such frames.
constexpr std::string_view kAsyncFact = "asynchronous callers";

}  // namespace nodescope
