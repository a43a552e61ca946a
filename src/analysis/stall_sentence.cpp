#include "analysis/stall_sentence.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/flat_map.h"

namespace nodescope {

namespace {

// How much cases may differ from the middle one and still be called the same.
constexpr double kSameLength = 0.15;
constexpr double kSameDistance = 0.1;

std::int64_t median(std::vector<std::int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

bool all_near(const std::vector<std::int64_t>& values, double tolerance) {
  const auto middle = static_cast<double>(median(values));
  return std::ranges::all_of(values, [&](std::int64_t value) {
    return std::abs(static_cast<double>(value) - middle) <= tolerance * middle;
  });
}

// "1.5 s", "84 ms": as a person would say it.
std::string spoken(std::int64_t ns) {
  const auto seconds = static_cast<double>(ns) / 1e9;
  if (seconds >= 0.9995) return fmt::format("{:.1f} s", seconds);
  return fmt::format("{:.0f} ms", seconds * 1e3);
}

struct Lengths {
  std::string usual;                  // "300 ms", "80 ms to 300 ms"
  std::optional<std::int64_t> every;  // where they come at equal distances
};

Lengths lengths_of(const std::vector<const Stall*>& cases) {
  std::vector<std::int64_t> lengths;
  std::vector<std::int64_t> distances;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    lengths.push_back(cases[i]->duration_ns());
    if (i > 0) distances.push_back(cases[i]->begin_ns - cases[i - 1]->begin_ns);
  }
  const auto [shortest, longest] = std::ranges::minmax(lengths);
  Lengths result;
  result.usual = all_near(lengths, kSameLength) ? spoken(median(lengths))
                                                : fmt::format("{} to {}", spoken(shortest), spoken(longest));
  if (distances.size() >= 2 && all_near(distances, kSameDistance)) result.every = median(distances);
  return result;
}

std::string describe_measured(const std::string& who, const std::string& whom,
                              const std::vector<const Stall*>& cases) {
  const Lengths lengths = lengths_of(cases);
  if (cases.size() == 1) return fmt::format("{} blocked {} for {}.", who, whom, lengths.usual);
  if (lengths.every)
    return fmt::format("{} blocks {} for {}, every {}.", who, whom, lengths.usual, spoken(*lengths.every));
  return fmt::format("{} blocked {} for {}, {} times.", who, whom, lengths.usual, cases.size());
}

std::string describe_estimated(const std::string& who, const std::string& whom,
                               const std::vector<const Stall*>& cases) {
  const Lengths lengths = lengths_of(cases);
  const std::string times = lengths.every      ? fmt::format(", every {}", spoken(*lengths.every))
                            : cases.size() > 1 ? fmt::format(", {} times", cases.size())
                                               : std::string();
  return fmt::format("{} may have blocked {} for up to {}{}.", who, whom, lengths.usual, times);
}

}  // namespace

std::string busy_text(std::optional<double> busy_percent) {
  return busy_percent ? fmt::format("(loop busy {:.0f} %)", *busy_percent) : std::string();
}

std::string stall_sentence(const Profile& profile, const std::vector<Stall>& stalls,
                           std::optional<double> busy_percent) {
  struct Group {
    std::vector<const Stall*> cases;
    double sum_ns = 0;
  };
  FlatMap<std::string, std::size_t> ids;
  std::vector<Group> groups;
  for (const Stall& stall : stalls) {
    const std::string key =
        fmt::format("{}\n{}\n{}", stall.thread.value, stall.function.name, stall.function.place);
    const auto [entry, added] = ids.try_emplace(key, groups.size());
    if (added) groups.emplace_back();
    Group& group = groups[entry->second];
    group.cases.push_back(&stall);
    group.sum_ns += static_cast<double>(stall.duration_ns());
  }
  const auto heaviest = std::ranges::max_element(groups, {}, &Group::sum_ns);
  if (heaviest == groups.end()) return {};
  const Stall& first = *heaviest->cases.front();
  const std::string who = first.kind == FrameKind::kGc ? "Garbage collection" : first.function.name;
  const std::string whom = thread_title(profile, first.thread);
  if (!first.estimated) return describe_measured(who, whom, heaviest->cases);
  const std::string busy = busy_text(busy_percent);
  return fmt::format("No stall is proven{}{}: {}", busy.empty() ? "" : " ", busy,
                     describe_estimated(who, whom, heaviest->cases));
}

}  // namespace nodescope
