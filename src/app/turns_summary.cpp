#include "app/turns_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "analysis/stalls.h"
#include "base/text.h"

namespace nodescope {

namespace {

std::string duration_text(std::int64_t ns) {
  return human_duration_ns(static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0)));
}

std::string stalls_line(const Profile& profile) {
  const StallOptions options;
  const auto report = derive_stalls(profile, derive_overview(profile), derive_causes(profile), {}, options);
  if (!report || !report->measured) return {};
  std::string text = "event loop: ";
  if (report->stalls.empty()) {
    text += fmt::format("no stall of {} or more, measured", duration_text(options.min_ns));
    if (report->longest)
      text += fmt::format("; longest turn {}", duration_text(report->longest->duration_ns()));
    return text + "\n";
  }
  return text + fmt::format("{} {} of {} or more, measured; longest {}\n  {}\n",
                            with_thousands(report->stalls.size()),
                            report->stalls.size() == 1 ? "stall" : "stalls", duration_text(options.min_ns),
                            duration_text(report->stalls.front().duration_ns()), printable(report->sentence));
}

}  // namespace

void TurnTotals::Sum::add(std::int64_t duration_ns) {
  ++count;
  if (__builtin_add_overflow(total_ns, duration_ns, &total_ns)) total_ns = INT64_MAX;
  longest_ns = std::max(longest_ns, duration_ns);
}

void TurnTotals::add(const Profile& profile) {
  const StallOptions options;
  for (const Marker& marker : profile.markers) {
    if (marker.duration_ns < 0) continue;
    if (marker.kind == MarkerKind::kStall && marker.duration_ns >= options.min_ns) {
      stalls_.add(marker.duration_ns);
    } else if (marker.kind == MarkerKind::kGc) {
      // By kind, without the reason that follows it in a marker's name.
      const std::string_view name = profile.text(marker.name);
      collections_[std::string(name.substr(0, name.find(':')))].add(marker.duration_ns);
    }
  }
}

std::string TurnTotals::stalls_line() const {
  if (stalls_.count == 0) return {};
  return fmt::format("event loop: {} {} of {} or more, measured; longest {}\n", with_thousands(stalls_.count),
                     stalls_.count == 1 ? "stall" : "stalls", duration_text(StallOptions{}.min_ns),
                     duration_text(stalls_.longest_ns));
}

std::string TurnTotals::collections_line() const {
  std::string text;
  for (const auto& [kind, sum] : collections_) {
    text += fmt::format("{}{} {} in {} {}, longest {}", text.empty() ? "collector: " : "; ",
                        printable(kind.empty() ? "collection" : kind), duration_text(sum.total_ns),
                        with_thousands(sum.count), sum.count == 1 ? "pause" : "pauses",
                        duration_text(sum.longest_ns));
  }
  return text.empty() ? text : text + "\n";
}

std::string turns_summary(const Profile& profile) {
  TurnTotals totals;
  totals.add(profile);
  return stalls_line(profile) + totals.collections_line();
}

}  // namespace nodescope
