#include "analysis/heap/leak_classes.h"

#include <algorithm>
#include <array>

#include "analysis/heap/place.h"
#include "analysis/heap/reach.h"
#include "base/flat_map.h"

namespace nodescope {

namespace {

constexpr std::uint32_t kNone = HeapGraph::kNone;

// Between two snapshots a program that is still warming up grows too; over three and more only what goes on
// does.
constexpr std::int64_t kLeastCountOfTwo = 50;
constexpr std::int64_t kLeastCountPerInterval = 5;
constexpr std::int64_t kLeastBytes = 4096;
constexpr std::int64_t kManyBytes = 1 << 20;
// Where most of what is new takes the place of what is gone, two snapshots show no growth but work in
// progress.
constexpr double kLeastShareOfNew = 0.25;
// An interval with less than this share of an even growth is none.
constexpr double kLeastShareOfInterval = 0.25;

bool is_builtin_class(std::string_view name) {
  constexpr auto kNames = std::to_array<std::string_view>({"Object",
                                                           "Array",
                                                           "Map",
                                                           "Set",
                                                           "WeakMap",
                                                           "WeakSet",
                                                           "WeakRef",
                                                           "Promise",
                                                           "Date",
                                                           "Error",
                                                           "ArrayBuffer",
                                                           "SharedArrayBuffer",
                                                           "DataView",
                                                           "Buffer",
                                                           "Uint8Array",
                                                           "Uint16Array",
                                                           "Uint32Array",
                                                           "Int8Array",
                                                           "Int16Array",
                                                           "Int32Array",
                                                           "Float32Array",
                                                           "Float64Array",
                                                           "BigInt64Array",
                                                           "BigUint64Array",
                                                           "Uint8ClampedArray",
                                                           "Generator",
                                                           "AsyncGenerator",
                                                           "Module",
                                                           "FastBuffer",
                                                           "Arguments",
                                                           "Symbol",
                                                           "Number",
                                                           "String",
                                                           "Boolean",
                                                           "PromiseReaction",
                                                           "global",
                                                           "AsyncResource",
                                                           "TypeError",
                                                           "RangeError"});
  return name.starts_with('{') || std::ranges::find(kNames, name) != kNames.end();
}

HeapClassKind kind_of_origin(ClassOrigin origin) {
  switch (origin) {
    case ClassOrigin::kNode:
      return HeapClassKind::kLibrary;
    case ClassOrigin::kNative:
      return HeapClassKind::kBuiltin;
    case ClassOrigin::kProgram:
      break;
  }
  return HeapClassKind::kOwn;
}

HeapClassKind kind_of(const HeapGraph& graph, std::uint32_t sample) {
  switch (graph.type(sample)) {
    case HeapNodeType::kObject:
      if (is_v8_internal(graph, sample)) return HeapClassKind::kNever;
      if (is_builtin_class(graph.name(sample))) return HeapClassKind::kBuiltin;
      return kind_of_origin(origin_of_class(graph, sample));
    case HeapNodeType::kClosure:
    case HeapNodeType::kRegexp:
    case HeapNodeType::kNative:
      return is_v8_internal(graph, sample) ? HeapClassKind::kText : HeapClassKind::kBuiltin;
    case HeapNodeType::kString:
    case HeapNodeType::kConcatenatedString:
    case HeapNodeType::kSlicedString:
    case HeapNodeType::kSymbol:
    case HeapNodeType::kBigint:
    case HeapNodeType::kNumber:
      return HeapClassKind::kText;
    default:
      return HeapClassKind::kNever;
  }
}

}  // namespace

HeapTrend trend_of(std::span<const std::uint64_t> values) {
  const auto intervals = static_cast<double>(values.size() - 1);
  const double total = static_cast<double>(values.back()) - static_cast<double>(values.front());
  bool steady = total > 0;
  bool falls = false;
  for (std::size_t i = 1; i < values.size(); ++i) {
    const double delta = static_cast<double>(values[i]) - static_cast<double>(values[i - 1]);
    steady = steady && delta >= kLeastShareOfInterval * total / intervals;
    falls = falls || delta < -kLeastShareOfInterval * total;
  }
  if (steady) return HeapTrend::kSteady;
  return total > 0 && !falls ? HeapTrend::kStep : HeapTrend::kNoise;
}

ClassGrowth::ClassGrowth(std::span<const HeapBaseline> older, const HeapDiff& diff,
                         const HeapAnalysis& newest)
    : older_(older), diff_(diff), heap_(newest) {
  const HeapClasses& classes = newest.classes();
  entries_.resize(classes.classes.size());
  std::vector<std::uint64_t> last(entries_.size());
  std::vector<std::uint32_t> sample(entries_.size(), kNone);
  for (std::uint32_t node = 0; node < newest.graph().node_count(); ++node) {
    const std::uint32_t id = classes.of_node[node];
    if (newest.shallow_size(node) == 0) continue;
    ++last[id];
    sample[id] = node;
  }
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    const HeapDiffRow& change = row(i);
    if (sample[i] == kNone || change.count_delta() <= 0) continue;
    Entry& entry = entries_[i];
    entry.kind = kind_of(newest.graph(), sample[i]);
    if (entry.kind == HeapClassKind::kNever) continue;
    for (const HeapBaseline& before : older_) entry.counts.push_back(count_in(before, change.key));
    entry.counts.push_back(last[i]);
    entry.grows = trend_of(entry.counts) == HeapTrend::kSteady;
  }
}

std::uint64_t ClassGrowth::count_in(const HeapBaseline& older, const std::string& key) const {
  const auto known = std::ranges::find(older.keys(), key);
  return known == older.keys().end()
             ? 0
             : older.sums()[static_cast<std::size_t>(known - older.keys().begin())].count;
}

std::int64_t ClassGrowth::least_count(std::uint32_t heap_class) const {
  const auto intervals = static_cast<std::int64_t>(older_.size());
  const HeapDiffRow& change = row(heap_class);
  const bool is_large = entries_[heap_class].kind == HeapClassKind::kOwn &&
                        std::max(change.retained_delta_bytes, change.bytes_delta()) >= kManyBytes;
  if (intervals > 1 || is_large) return kLeastCountPerInterval * intervals;
  return kLeastCountOfTwo;
}

bool ClassGrowth::is_leak(std::uint32_t heap_class) const {
  const Entry& entry = entries_[heap_class];
  const HeapDiffRow& change = row(heap_class);
  const bool stays = older_.size() > 1 || static_cast<double>(change.count_delta()) >=
                                              kLeastShareOfNew * static_cast<double>(change.added);
  return entry.grows && stays && change.count_delta() >= least_count(heap_class) &&
         std::max(change.retained_delta_bytes, change.bytes_delta()) >= kLeastBytes;
}

}  // namespace nodescope
