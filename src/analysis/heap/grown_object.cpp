#include "analysis/heap/grown_object.h"

#include <algorithm>
#include <vector>

#include "analysis/heap/leak_classes.h"
#include "analysis/heap/place.h"

namespace nodescope {

namespace {

constexpr std::int64_t kLeastBytes = 64 << 10;
constexpr double kLeastShareOfGrowth = 0.5;

std::uint64_t bytes_in(const HeapBaseline& older, std::uint64_t id) {
  const auto known = older.objects().find(id);
  return known == older.objects().end() ? 0 : known->second.bytes;
}

}  // namespace

std::optional<GrownObject> find_grown_object(std::span<const HeapBaseline> older, const HeapAnalysis& newest,
                                             const Reach& reach) {
  const HeapGraph& graph = newest.graph();
  GrownObject best;
  for (const std::uint32_t node : reach.order) {
    const std::uint64_t id = graph.ids[node];
    const std::uint64_t before = bytes_in(older.front(), id);
    const std::int64_t delta =
        static_cast<std::int64_t>(newest.shallow_size(node)) - static_cast<std::int64_t>(before);
    if (before == 0 || delta <= best.bytes_delta || is_v8_internal(graph, node)) continue;
    std::vector<std::uint64_t> sizes;
    for (const HeapBaseline& snapshot : older) sizes.push_back(bytes_in(snapshot, id));
    sizes.push_back(newest.shallow_size(node));
    // A table that doubles when it is full does not grow in every interval.
    const bool goes_on = sizes.back() > sizes[sizes.size() - 2];
    if (goes_on && trend_of(sizes) != HeapTrend::kNoise) best = {node, delta};
  }
  const auto growth =
      static_cast<double>(newest.total_bytes()) - static_cast<double>(older.front().total_bytes());
  const bool is_most = static_cast<double>(best.bytes_delta) >= kLeastShareOfGrowth * growth;
  return best.bytes_delta >= kLeastBytes && is_most ? std::optional(best) : std::nullopt;
}

}  // namespace nodescope
