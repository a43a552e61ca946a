#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/code_origin.h"
#include "model/profile.h"

namespace nodescope {

// Why a thread was on the processor, or was not.
enum class Cause : std::uint8_t {
  kJs,       // JavaScript, WebAssembly and V8's builtins
  kGc,       // the collector and all that it calls
  kCompile,  // V8's parser and compilers and all that they call
  kRegExp,
  kNative,
  kKernel,
  kIdle,     // nothing ran: only of sources that have samples of that
  kOther,    // not known
  kWaiting,  // the thread was not on a processor: it waited for something else than the loop's next event
};
constexpr std::size_t kCauseCount = 9;

// "js", "gc", "compile", "regexp", "native", "kernel", "idle", "other", "waiting".
std::string_view to_string(Cause cause);

// The cause of samples that have this stack, by StackId.  What the collector, a compiler or a regular
// expression calls belongs to it, the kernel's work too, until JavaScript is called again.  Otherwise the
// innermost frame decides.
std::vector<Cause> derive_causes(const Profile& profile);

// What the samples of each cause add up to.
struct CauseTotals {
  std::array<std::uint64_t, kCauseCount> by = {};
  std::uint64_t total = 0;

  bool operator==(const CauseTotals&) const = default;
};

// `sums` are by StackId, as `causes` are.
CauseTotals sum_causes(const std::vector<Cause>& causes, const std::vector<std::uint64_t>& sums);

// Of the samples from `first_sample` on, whatever their event, by their weights.
CauseTotals sum_causes(const Profile& profile, std::size_t first_sample);

// The cause of a frame by itself: what it would be without callers.
Cause cause_of(FrameKind kind, Origin origin, std::string_view function);

// The cause of a frame below a caller whose stack has `caller`.
Cause cause_below(Cause caller, Cause frame);

}  // namespace nodescope
