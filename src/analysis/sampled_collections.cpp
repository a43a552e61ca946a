#include "analysis/sampled_collections.h"

#include <algorithm>
#include <array>
#include <utility>

#include "analysis/cause.h"

namespace nodescope {

namespace {

// Parts of the names of V8's functions.
constexpr auto kKinds = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"MarkCompact", "mark-compact"},
    {"Scaveng", "scavenge"},
    {"IncrementalMarking", "incremental step"},
});
constexpr std::string_view kUnknownKind = "collection";

// A sample that comes later than this does not follow.
constexpr std::int64_t kMaxPeriods = 2;

std::string_view kind_of(const Profile& profile, StackId stack) {
  for (; stack != kEmptyStack; stack = profile.stacks.caller(stack)) {
    const std::string_view function = profile.text(profile.frames[profile.stacks.frame(stack)].function);
    const auto known =
        std::ranges::find_if(kKinds, [&](const auto& kind) { return function.contains(kind.first); });
    if (known != kKinds.end()) return known->second;
  }
  return kUnknownKind;
}

}  // namespace

std::vector<SampledCollection> find_sampled_collections(const Profile& profile, std::size_t first_sample) {
  const std::vector<Cause> causes = derive_causes(profile);
  std::vector<std::size_t> order;
  for (std::size_t i = first_sample; i < profile.samples.size(); ++i) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    return std::pair(profile.samples.context(i).thread, profile.samples.time_ns(i));
  });
  std::vector<SampledCollection> found;
  bool follows = false;
  for (const std::size_t i : order) {
    const ThreadId thread = profile.samples.context(i).thread;
    const std::int64_t time = profile.samples.time_ns(i);
    const StackId stack = profile.samples.stack(i);
    const auto period = static_cast<std::int64_t>(profile.samples.weight(i));
    if (causes[stack.index()] != Cause::kGc) {
      follows = false;
      continue;
    }
    const std::string_view kind = kind_of(profile, stack);
    const bool goes_on = follows && found.back().thread == thread && found.back().kind == kind &&
                         time - (found.back().begin_ns + found.back().duration_ns) <= kMaxPeriods * period;
    if (goes_on) {
      found.back().duration_ns = time + period - found.back().begin_ns;
    } else {
      found.push_back({thread, time, period, kind, stack});
    }
    follows = true;
  }
  return found;
}

}  // namespace nodescope
