#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/cause.h"
#include "analysis/overview.h"
#include "analysis/stalls.h"
#include "model/profile.h"

namespace nodescope {

// What a profile says at first sight, about the thread that was busiest among those that run JavaScript.
struct Verdict {
  std::optional<ThreadId> thread;  // none: nothing ran
  std::optional<double> busy;      // share of the time that it was on a CPU; none where that is not known
  double cpu_ns = 0;               // of this thread
  double all_cpu_ns = 0;           // of all threads
  Cause cause = Cause::kOther;     // the largest of the thread's time on a CPU
  double cause_share = 0;
  std::string function;  // the own function that weighs most with what it calls of other code; may be empty
  double function_share = 0;
  std::string sentence;

  bool operator==(const Verdict&) const = default;
};

// `stalls` null: not looked for.  Samples of event 0 count.
Verdict derive_verdict(const Profile& profile, const Overview& overview, const std::vector<Cause>& causes,
                       const StallReport* stalls);

}  // namespace nodescope
