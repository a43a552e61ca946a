#pragma once

#include <cstdint>
#include <vector>

#include "analysis/call_tree.h"
#include "analysis/cause.h"
#include "analysis/selection.h"
#include "base/result.h"
#include "model/profile.h"

namespace nodescope {

// A selection as what its stacks sum up to: all that views without a time axis need, at the cost of the
// distinct stacks instead of that of the samples.
struct SummedSelection {
  // One sample without a time for each stack, or for each stack of each thread.  Its weight is the sum, and
  // its only event has the unit of the sums, so that views of it count by weight.  Without diagnostics,
  // facts, mappings and markers.
  Profile profile;
  // The sums by stack of the profile that was summed, whatever the selection does to the form of stacks.
  std::vector<std::uint64_t> by_stack;
  std::uint64_t samples = 0;  // how many were summed
  bool clipped = false;       // sums beyond kMaxTotal were cut
};

struct SumOptions {
  CountBy count = CountBy::kWeight;
  // Otherwise samples are of no thread.
  bool by_thread = false;

  bool operator==(const SumOptions&) const = default;
};

// The samples of one event, selection.event or else event 0.  Gives every view the same numbers as
// derive_selection does.
Result<SummedSelection> derive_sums(const Profile& profile, const Selection& selection,
                                    const SumOptions& options);

// What the page's headline and that of a report show: the causes of what is selected, each stack taken whole
// whatever the selection does to its form.
Result<CauseTotals> derive_cause_totals(const Profile& profile, const Selection& selection, CountBy count);

}  // namespace nodescope
