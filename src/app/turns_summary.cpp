#include "app/turns_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <ranges>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/stalls.h"
#include "base/text.h"
#include "model/application_frame.h"
#include "model/turns.h"
#include "model/waiting.h"

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

// By kind, without the reason that follows it in a marker's name.
std::string collections_line(const Profile& profile) {
  struct Sum {
    std::uint64_t count = 0;
    std::int64_t total_ns = 0;
    std::int64_t longest_ns = 0;
  };
  std::map<std::string_view, Sum> sums;
  for (const Marker& marker : profile.markers) {
    if (marker.kind != MarkerKind::kGc || marker.duration_ns < 0) continue;
    const std::string_view name = profile.text(marker.name);
    Sum& sum = sums[name.substr(0, name.find(':'))];
    ++sum.count;
    if (__builtin_add_overflow(sum.total_ns, marker.duration_ns, &sum.total_ns)) sum.total_ns = INT64_MAX;
    sum.longest_ns = std::max(sum.longest_ns, marker.duration_ns);
  }
  std::string text;
  for (const auto& [kind, sum] : sums) {
    text += fmt::format("{}{} {} in {} {}, longest {}", text.empty() ? "collector: " : "; ",
                        printable(kind.empty() ? "collection" : kind), duration_text(sum.total_ns),
                        with_thousands(sum.count), sum.count == 1 ? "pause" : "pauses",
                        duration_text(sum.longest_ns));
  }
  return text.empty() ? text : text + "\n";
}

std::string pools_line(const Profile& profile) {
  std::int64_t total_ns = 0;
  const Marker* longest = nullptr;
  for (const Marker& marker : profile.markers) {
    if (!profile.text(marker.name).starts_with(kFullPoolMark) || marker.duration_ns < 0) continue;
    if (__builtin_add_overflow(total_ns, marker.duration_ns, &total_ns)) total_ns = INT64_MAX;
    if (longest == nullptr || marker.duration_ns > longest->duration_ns) longest = &marker;
  }
  if (longest == nullptr) return {};
  return fmt::format("{}, for {}\n", printable(profile.text(longest->name)), duration_text(total_ns));
}

// What JavaScript waited for without going back to its loop, longest first.
std::string waits_lines(const Profile& profile) {
  constexpr std::size_t kShown = 5;
  if (!counts_waiting(profile)) return {};
  const std::vector<Cause> causes = derive_causes(profile);
  std::map<std::pair<std::string_view, std::string>, std::uint64_t> sums;
  for (std::size_t i = 0; i < profile.samples.size(); ++i) {
    const StackId stack = profile.samples.stack(i);
    if (stack == kEmptyStack || causes[stack.index()] != Cause::kWaiting) continue;
    const std::string_view reason = profile.text(profile.frames[profile.stacks.frame(stack)].function);
    if (reason == kReadyFrame) continue;
    if (const auto function = application_frame(profile, stack))
      sums[{reason, frame_text(profile, *function)}] += profile.samples.weight(i);
  }
  std::vector<std::pair<std::uint64_t, std::string>> rows;
  for (const auto& [what, ns] : sums) rows.emplace_back(ns, fmt::format("{} {}", what.first, what.second));
  std::ranges::sort(rows, std::greater());
  std::string text;
  for (const auto& [ns, what] : rows | std::views::take(kShown))
    text += fmt::format("  {:>10}  {}\n", human_duration_ns(ns), printable(what));
  return text.empty() ? text : "JavaScript waits for\n" + text;
}

}  // namespace

std::string turns_summary(const Profile& profile) {
  return stalls_line(profile) + collections_line(profile) + pools_line(profile) + waits_lines(profile);
}

}  // namespace nodescope
