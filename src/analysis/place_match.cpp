#include "analysis/place_match.h"

#include <algorithm>
#include <map>

namespace nodescope {

namespace {

using Pair = std::pair<std::size_t, std::size_t>;

// Pairs that are compared with each other; beyond, places match in their order alone.
constexpr std::size_t kMaxCells = 1'000'000;

std::uint32_t shifted(std::uint32_t value, std::uint32_t from, std::uint32_t to) {
  const std::int64_t moved = std::int64_t{value} + to - from;
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(moved, 0, UINT32_MAX));
}

// A line counts as many columns as a line may have that people write.
double distance(Place a, Place b) {
  constexpr double kColumns = 200;
  const double lines = static_cast<double>(a.line) - static_cast<double>(b.line);
  const double columns = static_cast<double>(a.column) - static_cast<double>(b.column);
  return std::abs(lines * kColumns + columns);
}

// As many pairs as the shorter side has, in order, with the least sum of distances.
class NearestInOrder {
 public:
  NearestInOrder(std::span<const Place> few, std::span<const Place> many) : few_(few), many_(many) {}

  std::vector<Pair> run() {
    const std::size_t columns = many_.size() + 1;
    // cost[i * columns + j]: of the first i of the few among the first j of the many.
    std::vector<double> cost((few_.size() + 1) * columns, 0);
    for (std::size_t i = 1; i <= few_.size(); ++i) {
      for (std::size_t j = i; j <= many_.size(); ++j) {
        const double paired = cost[(i - 1) * columns + j - 1] + distance(few_[i - 1], many_[j - 1]);
        const bool can_skip = j > i;
        const double skipped = can_skip ? cost[i * columns + j - 1] : paired;
        cost[i * columns + j] = std::min(paired, skipped);
      }
    }
    std::vector<Pair> pairs;
    std::size_t j = many_.size();
    for (std::size_t i = few_.size(); i > 0; --i) {
      while (j > i && cost[i * columns + j - 1] <= cost[i * columns + j]) --j;
      pairs.emplace_back(i - 1, j - 1);
      --j;
    }
    return pairs;
  }

 private:
  std::span<const Place> few_;
  std::span<const Place> many_;
};

// The places from `begin` on that are matched with each other.
struct Gap {
  std::size_t begin_before = 0;
  std::size_t end_before = 0;
  std::size_t begin_after = 0;
  std::size_t end_after = 0;
};

void match_gap(std::span<const Place> expected, std::span<const Place> after, const Gap& gap,
               std::vector<Pair>& pairs) {
  const auto left = expected.subspan(gap.begin_before, gap.end_before - gap.begin_before);
  const auto right = after.subspan(gap.begin_after, gap.end_after - gap.begin_after);
  if (left.empty() || right.empty()) return;
  const std::size_t count = std::min(left.size(), right.size());
  if (left.size() == right.size() || left.size() > kMaxCells / right.size()) {
    for (std::size_t i = 0; i < count; ++i) pairs.emplace_back(gap.begin_before + i, gap.begin_after + i);
    return;
  }
  const bool swapped = left.size() > right.size();
  for (const auto& [few, many] : NearestInOrder(swapped ? right : left, swapped ? left : right).run()) {
    pairs.emplace_back(gap.begin_before + (swapped ? many : few), gap.begin_after + (swapped ? few : many));
  }
}

// The longest run of pairs that ascends on both sides, of pairs that ascend on the first.
std::vector<std::pair<Place, Place>> ascending(const std::vector<std::pair<Place, Place>>& pairs) {
  constexpr std::size_t kNone = SIZE_MAX;
  std::vector<std::size_t> ends;  // by length: the run that ends lowest
  std::vector<std::size_t> previous(pairs.size(), kNone);
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto place_of = [&](std::size_t end) { return pairs[end].second; };
    const auto at = std::ranges::lower_bound(ends, pairs[i].second, {}, place_of);
    if (at != ends.begin()) previous[i] = *(at - 1);
    if (at == ends.end()) {
      ends.push_back(i);
    } else {
      *at = i;
    }
  }
  std::vector<std::pair<Place, Place>> run;
  for (std::size_t i = ends.empty() ? kNone : ends.back(); i != kNone; i = previous[i])
    run.push_back(pairs[i]);
  std::ranges::reverse(run);
  return run;
}

// Matches what lies in one stretch.
void match_stretch(std::span<const Place> expected, std::span<const Place> after, const Gap& stretch,
                   std::vector<Pair>& pairs) {
  Gap gap = stretch;
  for (std::size_t i = stretch.begin_before; i < stretch.end_before; ++i) {
    const auto rest = after.subspan(gap.begin_after, stretch.end_after - gap.begin_after);
    const auto found = std::ranges::lower_bound(rest, expected[i]);
    if (found == rest.end() || *found != expected[i]) continue;
    gap.end_before = i;
    gap.end_after = gap.begin_after + static_cast<std::size_t>(found - rest.begin());
    match_gap(expected, after, gap, pairs);
    pairs.emplace_back(gap.end_before, gap.end_after);
    gap.begin_before = gap.end_before + 1;
    gap.begin_after = gap.end_after + 1;
  }
  gap.end_before = stretch.end_before;
  gap.end_after = stretch.end_after;
  match_gap(expected, after, gap, pairs);
}

}  // namespace

FileLandmarks::FileLandmarks(std::vector<std::pair<Place, Place>> known) {
  std::ranges::sort(known);
  known_ = ascending(known);
}

Place FileLandmarks::moved(Place before) const {
  if (known_.empty()) return before;
  const std::size_t stretch = stretch_before(before);
  const auto& [from, to] = known_[stretch == 0 ? 0 : stretch - 1];
  // Text that is moved within a line moves by columns: in minified code all there is.
  const bool same_line = before.line == from.line;
  return {shifted(before.line, from.line, to.line),
          same_line ? shifted(before.column, from.column, to.column) : before.column};
}

std::size_t FileLandmarks::stretch_before(Place before) const {
  const auto next = std::ranges::upper_bound(known_, before, {}, &std::pair<Place, Place>::first);
  return static_cast<std::size_t>(next - known_.begin());
}

std::size_t FileLandmarks::stretch_after(Place after) const {
  const auto next = std::ranges::upper_bound(known_, after, {}, &std::pair<Place, Place>::second);
  return static_cast<std::size_t>(next - known_.begin());
}

std::vector<Pair> match_places(std::span<const Place> before, std::span<const Place> after,
                               const FileLandmarks& landmarks) {
  std::vector<Place> expected;
  for (const Place place : before) expected.push_back(landmarks.moved(place));
  std::vector<Pair> pairs;
  Gap gap;
  while (gap.begin_before < before.size() && gap.begin_after < after.size()) {
    const std::size_t stretch = std::min(landmarks.stretch_before(before[gap.begin_before]),
                                         landmarks.stretch_after(after[gap.begin_after]));
    gap.end_before = gap.begin_before;
    while (gap.end_before < before.size() && landmarks.stretch_before(before[gap.end_before]) == stretch)
      ++gap.end_before;
    gap.end_after = gap.begin_after;
    while (gap.end_after < after.size() && landmarks.stretch_after(after[gap.end_after]) == stretch)
      ++gap.end_after;
    match_stretch(expected, after, gap, pairs);
    gap.begin_before = gap.end_before;
    gap.begin_after = gap.end_after;
  }
  return pairs;
}

std::optional<std::int64_t> likely_line_shift(std::span<const Place> before, std::span<const Place> after) {
  if (before.empty() || after.size() > kMaxCells / before.size()) return std::nullopt;
  std::map<std::int64_t, std::size_t> votes;
  for (const Place from : before) {
    for (const Place to : after) {
      if (from.column == to.column) ++votes[std::int64_t{to.line} - from.line];
    }
  }
  if (votes.empty()) return std::nullopt;
  // The shorter way where two have as many.
  const auto best = std::ranges::max_element(votes, [](const auto& a, const auto& b) {
    return std::pair(a.second, -std::abs(a.first)) < std::pair(b.second, -std::abs(b.first));
  });
  return best->first;
}

}  // namespace nodescope
