#include "app/headline.h"

#include "analysis/overview.h"
#include "analysis/stalls.h"
#include "analysis/verdict.h"

namespace nodescope {

std::string headline(const Profile& profile) {
  // Stalls of a day at a high rate take seconds to find.
  constexpr std::size_t kMaxSamples = 5'000'000;
  const Overview overview = derive_overview(profile);
  const std::vector<Cause> causes = derive_causes(profile);
  Result<StallReport> stalls = fail(ErrorCode::kLimit, "not looked for");
  if (overview.duration_ns > 0 && profile.samples.size() <= kMaxSamples)
    stalls = derive_stalls(profile, overview, causes, {}, {});
  return derive_verdict(profile, overview, causes, stalls ? &*stalls : nullptr).sentence;
}

std::string headline_of_sums(const Profile& profile, const Accounting& accounting) {
  Overview overview = derive_overview(profile);
  overview.accounting = accounting;
  // Of sums nobody knows how many samples each has.
  overview.resolution = {};
  return derive_verdict(profile, overview, derive_causes(profile), nullptr).sentence;
}

}  // namespace nodescope
