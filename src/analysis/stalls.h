#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/cause.h"
#include "analysis/event_loop.h"
#include "analysis/labels.h"
#include "analysis/overview.h"
#include "analysis/selection.h"
#include "base/result.h"
#include "model/profile.h"

namespace nodescope {

// A thread that ran JavaScript without a return to its event loop.
struct Stall {
  ThreadId thread;
  std::int64_t begin_ns = 0;  // from the first sample of the profile
  std::int64_t end_ns = 0;    // excluded
  std::int64_t wall_ns = 0;   // when it began, since 1970; 0: not known
  bool estimated = true;      // from samples, so at most this long; else the recording has it
  LabelParts function;        // the innermost one with most of the samples: an own one, else what there is
  FrameKind kind = FrameKind::kUnknown;
  Cause cause = Cause::kOther;  // of most samples
  std::uint64_t samples = 0;
  std::array<std::uint64_t, kCauseCount> by_cause{};  // samples
  LoopPhase phase = LoopPhase::kUnknown;              // of most samples
  std::string why;  // "timer callback", "garbage collection", …; empty where the stacks do not tell

  std::int64_t duration_ns() const { return end_ns - begin_ns; }
  bool operator==(const Stall&) const = default;
};

struct StallReport {
  std::vector<Stall> stalls;     // longest first; of very many the longest
  std::optional<Stall> longest;  // also where it is shorter than was asked for
  bool measured = false;         // the recording has the turns of the loops; else all is estimated
  // How much of the time the busiest thread that runs JavaScript was busy, of 100; nothing where that is not
  // known.
  std::optional<double> busy_percent;
  // What holds for all of the function's stalls that weigh most: "aggregateMetrics blocks node 4120 for 1.5
  // s, every 10.0 s."  Of estimates it says that none is proven.  Empty without a stall.
  std::string sentence;
};

struct StallOptions {
  std::int64_t min_ns = 50'000'000;
};

// Where the recording has the turns of the loops, these.  Otherwise an estimate, which proves nothing:
// stretches in which every sample of a thread that runs JavaScript lies below the same call of an own or a
// package's function.  They end
//  - at a hole that is too long to be the work of other programs on the same processors,
//  - at a sample of the event loop, or of Node's own JavaScript without any of the application,
//  - where no function of the application would be common to all samples.
// A collection belongs to the stretch in which it happens.
//
// Samples cannot tell one long call from short ones that follow each other, if no sample falls between them.
// Stretches that are no longer than a thread as busy as this one has by chance are therefore left out (see
// ChanceLength), so short stalls of a busy thread are found only at a high rate.  A thread that is never seen
// in its event loop counts as one stall, and requests that follow each other may do so too.  Time that is
// spent in Node's own JavaScript, or in very many callbacks that have nothing in common, is not found.
//
// Of the selection, event, time and threads count.
// The function of a stall is the innermost one that has at least 80 % of its samples: a single odd one, such
// as of a request that came in between, does not move the blame to their common caller.
Result<StallReport> derive_stalls(const Profile& profile, const Overview& overview,
                                  const std::vector<Cause>& causes, const Selection& selection,
                                  const StallOptions& options);

// "node 4120", "node 4120, thread 4125".
std::string thread_title(const Profile& profile, ThreadId thread);

}  // namespace nodescope
