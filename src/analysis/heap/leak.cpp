#include "analysis/heap/leak.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analysis/heap/place.h"
#include "analysis/heap/reach.h"
#include "base/text.h"

namespace nodescope {

namespace {

constexpr std::uint32_t kNone = HeapGraph::kNone;

// Between two snapshots a program that is still warming up grows too; over three and more only what goes on
// does.
constexpr std::int64_t kLeastCountOfTwo = 50;
constexpr std::int64_t kLeastCountPerInterval = 5;
constexpr std::int64_t kLeastBytes = 4096;
// An interval with less than this share of an even growth is none.
constexpr double kLeastShareOfInterval = 0.25;
// Of the new objects of a class, this share is reached through the holder.
constexpr double kLeastShareOfHolder = 0.5;
// What holds fewer branches than this is no collection.
constexpr std::uint32_t kFewBranches = 8;
constexpr int kMostAttempts = 12;

enum class Trend : std::uint8_t { kSteady, kStep, kNoise };

Trend trend_of(const std::vector<std::uint64_t>& counts) {
  const auto intervals = static_cast<double>(counts.size() - 1);
  const double total = static_cast<double>(counts.back()) - static_cast<double>(counts.front());
  bool steady = total > 0;
  bool falls = false;
  for (std::size_t i = 1; i < counts.size(); ++i) {
    const double delta = static_cast<double>(counts[i]) - static_cast<double>(counts[i - 1]);
    steady = steady && delta >= kLeastShareOfInterval * total / intervals;
    falls = falls || delta < -kLeastShareOfInterval * total;
  }
  if (steady) return Trend::kSteady;
  return total > 0 && !falls ? Trend::kStep : Trend::kNoise;
}

// Which word a class is named by, best first.
enum class Kind : std::uint8_t { kOwn, kBuiltin, kText, kNever };

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

// Grows over the classes of the newest snapshot, with what is known of each.
struct ClassGrowth {
  Kind kind = Kind::kNever;
  double share = 0;  // of a new object: the part that was not made up for by one that is gone
  std::vector<std::uint64_t> counts;
};

// The objects below one holder, by class.
struct Below {
  double count = 0;
  double depths = 0;
  std::uint32_t first = kNone;  // the nearest one

  double depth() const { return depths / count; }
};

class LeakFinder {
 public:
  LeakFinder(std::span<const HeapBaseline> older, const HeapDiff& diff, const HeapAnalysis& newest)
      : older_(older), diff_(diff), heap_(newest), graph_(newest.graph()), reach_(derive_reach(graph_)) {}

  LeakAnswer find() {
    LeakAnswer answer;
    answer.bytes_delta = diff_.bytes_delta;
    answer.snapshots = older_.size() + 1;
    measure_classes();
    for (int attempt = 0; attempt < kMostAttempts && !answer.leak; ++attempt) {
      weigh();
      const std::uint32_t holder = descend();
      if (holder == kNone) break;
      const std::uint32_t leaking = choose_class(holder);
      if (leaking == kNone) {
        forget_below(holder);
      } else {
        answer.leak = describe(holder, leaking);
      }
    }
    if (!answer.leak) answer.step = largest_step();
    return answer;
  }

 private:
  std::size_t least_count() const {
    const std::size_t intervals = older_.size();
    return static_cast<std::size_t>(
        intervals == 1 ? kLeastCountOfTwo : kLeastCountPerInterval * static_cast<std::int64_t>(intervals));
  }

  const HeapDiffRow& row(std::uint32_t heap_class) const {
    return diff_.rows[diff_.row_of_class[heap_class]];
  }

  Kind kind_of_class(std::uint32_t sample) const {
    switch (graph_.type(sample)) {
      case HeapNodeType::kObject:
        if (is_v8_internal(graph_, sample)) return Kind::kNever;
        return is_builtin_class(graph_.name(sample)) ? Kind::kBuiltin : Kind::kOwn;
      case HeapNodeType::kClosure:
      case HeapNodeType::kRegexp:
      case HeapNodeType::kNative:
        return is_v8_internal(graph_, sample) ? Kind::kText : Kind::kBuiltin;
      case HeapNodeType::kString:
      case HeapNodeType::kConcatenatedString:
      case HeapNodeType::kSlicedString:
      case HeapNodeType::kSymbol:
      case HeapNodeType::kBigint:
      case HeapNodeType::kNumber:
        return Kind::kText;
      default:
        return Kind::kNever;
    }
  }

  std::uint64_t count_in(const HeapBaseline& older, const std::string& key) const {
    const auto known = std::ranges::find(older.keys(), key);
    return known == older.keys().end()
               ? 0
               : older.sums()[static_cast<std::size_t>(known - older.keys().begin())].count;
  }

  void measure_classes() {
    const HeapClasses& classes = heap_.classes();
    growth_.resize(classes.classes.size());
    std::vector<std::uint64_t> last(growth_.size());
    std::vector<std::uint32_t> sample(growth_.size(), kNone);
    for (std::uint32_t node = 0; node < graph_.node_count(); ++node) {
      const std::uint32_t id = classes.of_node[node];
      if (heap_.shallow_size(node) == 0) continue;
      ++last[id];
      sample[id] = node;
    }
    for (std::uint32_t i = 0; i < growth_.size(); ++i) {
      const HeapDiffRow& change = row(i);
      if (sample[i] == kNone || change.count_delta() <= 0) continue;
      ClassGrowth& growth = growth_[i];
      growth.kind = kind_of_class(sample[i]);
      if (growth.kind == Kind::kNever) continue;
      for (const HeapBaseline& older : older_) growth.counts.push_back(count_in(older, change.key));
      growth.counts.push_back(last[i]);
      if (trend_of(growth.counts) == Trend::kSteady)
        growth.share = static_cast<double>(change.count_delta()) / static_cast<double>(change.added);
    }
  }

  bool is_new(std::uint32_t node) const { return !older_.front().objects().contains(graph_.ids[node]); }

  // How much of what is new is reached through each node.
  void weigh() {
    const std::size_t count = graph_.node_count();
    bytes_.assign(count, 0);
    objects_.assign(count, 0);
    branches_.assign(count, 0);
    heaviest_.assign(count, kNone);
    for (std::size_t i = reach_.order.size(); i-- > 0;) {
      const std::uint32_t node = reach_.order[i];
      const double share = growth_[heap_.classes().of_node[node]].share;
      if (share > 0 && heap_.shallow_size(node) != 0 && is_new(node)) {
        bytes_[node] += static_cast<float>(share * static_cast<double>(heap_.shallow_size(node)));
        objects_[node] += static_cast<float>(share);
      }
      const std::uint32_t parent = reach_.parents[node];
      if (bytes_[node] == 0) continue;
      if (parent == kNone) {
        if (top_ == kNone || bytes_[node] > bytes_[top_] || top_ == node) top_ = node;
        continue;
      }
      bytes_[parent] += bytes_[node];
      objects_[parent] += objects_[node];
      ++branches_[parent];
      if (heaviest_[parent] == kNone || bytes_[node] > bytes_[heaviest_[parent]]) heaviest_[parent] = node;
    }
  }

  // One of many of its kind rather than their collection.
  bool is_element(std::uint32_t node, std::uint32_t holder) const {
    if (!is_new(node) || is_v8_internal(graph_, node)) return false;
    const auto grown = static_cast<double>(row(heap_.classes().of_node[node]).count_delta());
    const bool collects =
        branches_[node] >= kFewBranches && static_cast<float>(branches_[node]) >= 0.1F * objects_[node];
    return !collects && grown > std::max(8.0, 0.05 * static_cast<double>(objects_[holder]));
  }

  // The deepest object through which most of the growth is reached.
  std::uint32_t descend() {
    if (top_ == kNone || bytes_[top_] <= 0) return kNone;
    std::uint32_t node = top_;
    while (heaviest_[node] != kNone) {
      const std::uint32_t next = heaviest_[node];
      const bool is_collection = branches_[node] > kFewBranches && bytes_[next] < 0.5F * bytes_[node];
      if ((is_collection && !fans_out_by_itself(node)) || is_element(next, node)) break;
      node = next;
    }
    return node;
  }

  // Roots and the global object refer to everything there is: what they hold is no collection.
  bool fans_out_by_itself(std::uint32_t node) const {
    return graph_.type(node) == HeapNodeType::kSynthetic || reach_.parents[node] == kNone;
  }

  std::uint32_t choose_class(std::uint32_t holder) {
    const std::vector<Below> below = count_below(holder);
    const double least = std::max(static_cast<double>(least_count()) * kLeastShareOfHolder,
                                  0.3 * static_cast<double>(branches_[holder]));
    std::uint32_t best = kNone;
    for (std::uint32_t i = 0; i < below.size(); ++i) {
      if (below[i].count < least || !is_leak(i, below[i])) continue;
      if (best == kNone || is_better(i, best, below)) best = i;
    }
    if (best != kNone) sample_ = below[best].first;
    return best;
  }

  // The program's own classes first, then what is nearest to the holder.
  bool is_better(std::uint32_t one, std::uint32_t other, const std::vector<Below>& below) const {
    if (growth_[one].kind != growth_[other].kind) return growth_[one].kind < growth_[other].kind;
    constexpr double kSameDepth = 0.5;
    const double nearer = below[other].depth() - below[one].depth();
    if (std::abs(nearer) > kSameDepth) return nearer > 0;
    return row(one).retained_delta_bytes > row(other).retained_delta_bytes;
  }

  bool is_leak(std::uint32_t heap_class, const Below& below) const {
    const HeapDiffRow& change = row(heap_class);
    const auto grown = static_cast<double>(change.count_delta());
    return change.count_delta() >= static_cast<std::int64_t>(least_count()) &&
           std::max(change.retained_delta_bytes, change.bytes_delta()) >= kLeastBytes &&
           below.count >= kLeastShareOfHolder * grown;
  }

  std::vector<Below> count_below(std::uint32_t holder) const {
    std::vector<Below> below(growth_.size());
    Bits inside(graph_.node_count());
    Column<std::uint32_t> depths;
    depths.assign(graph_.node_count(), 0);
    inside.set(holder);
    for (const std::uint32_t node : reach_.order) {
      const std::uint32_t parent = reach_.parents[node];
      if (parent == kNone || !inside[parent]) continue;
      inside.set(node);
      depths[node] = depths[parent] + 1;
      const std::uint32_t id = heap_.classes().of_node[node];
      if (growth_[id].share == 0 || heap_.shallow_size(node) == 0 || !is_new(node)) continue;
      below[id].count += growth_[id].share;
      below[id].depths += growth_[id].share * depths[node];
      if (below[id].first == kNone) below[id].first = node;
    }
    return below;
  }

  // Nothing under `holder` is a leak: look elsewhere.
  void forget_below(std::uint32_t holder) {
    const std::vector<Below> below = count_below(holder);
    for (std::size_t i = 0; i < below.size(); ++i) {
      if (below[i].count > 0) growth_[i].share = 0;
    }
    growth_[heap_.classes().of_node[holder]].share = 0;
    top_ = kNone;
  }

  // The object of the program that holds them: V8's backing stores belong to it, and a list begins before its
  // first element.
  std::uint32_t visible_holder(std::uint32_t node) const {
    const std::uint32_t element_class = heap_.classes().of_node[sample_];
    while (node != kNone && reach_.parents[node] != kNone &&
           ((is_v8_internal(graph_, node) && !is_context(graph_, node)) ||
            heap_.classes().of_node[node] == element_class))
      node = reach_.parents[node];
    return node;
  }

  HeapLeak describe(std::uint32_t holder, std::uint32_t leaking) {
    const HeapDiffRow& change = row(leaking);
    HeapLeak leak;
    leak.name = graph_.type(sample_) == HeapNodeType::kClosure ? closure_name() : change.name;
    leak.count_delta = change.count_delta();
    leak.retained_delta_bytes = change.retained_delta_bytes;
    leak.counts = growth_[leaking].counts;
    describe_holder(holder, leak);
    const auto path = path_to(reach_, sample_);
    for (const std::uint32_t node : path) {
      const std::uint32_t edge = reach_.edges[node];
      leak.path.push_back({node_text(heap_, node), edge == kNone ? std::string() : edge_text(graph_, edge)});
    }
    return leak;
  }

  void describe_holder(std::uint32_t deepest, HeapLeak& leak) {
    const std::uint32_t holder = visible_holder(deepest);
    if (holder == kNone) return;
    if (is_context(graph_, holder)) {  // a variable refers to the first of them
      const std::uint32_t first = child_towards_sample(holder);
      const Place place = place_of(heap_, reach_, first);
      leak.holder = fmt::format("{} ({})", place.name, node_text(heap_, first));
      if (!place.file.empty()) leak.owners = " ← " + place.file;
      return;
    }
    const Place place = place_of(heap_, reach_, holder);
    leak.holder = fmt::format("{} ({})", place.name, node_text(heap_, holder));
    const std::string text = place_text(heap_, reach_, holder, 2);
    leak.owners = text.substr(std::min(text.size(), leak.holder.size()));
  }

  std::uint32_t child_towards_sample(std::uint32_t holder) const {
    std::uint32_t node = sample_;
    while (reach_.parents[node] != holder) node = reach_.parents[node];
    return node;
  }

  std::string closure_name() const {
    const std::string_view name = graph_.name(sample_);
    return name.empty() ? "closure" : fmt::format("closure {}", name);
  }

  std::optional<HeapStep> largest_step() const {
    std::optional<HeapStep> step;
    std::int64_t bytes = 0;
    if (older_.size() < 2) return step;
    for (std::uint32_t i = 0; i < growth_.size(); ++i) {
      const ClassGrowth& growth = growth_[i];
      if (growth.counts.empty() || growth.kind > Kind::kBuiltin || trend_of(growth.counts) != Trend::kStep)
        continue;
      const HeapDiffRow& change = row(i);
      if (change.count_delta() < static_cast<std::int64_t>(least_count()) || change.bytes_delta() <= bytes)
        continue;
      bytes = change.bytes_delta();
      step = HeapStep{change.name, growth.counts};
    }
    return step;
  }

  std::span<const HeapBaseline> older_;
  const HeapDiff& diff_;
  const HeapAnalysis& heap_;
  const HeapGraph& graph_;
  Reach reach_;
  std::vector<ClassGrowth> growth_;  // by class
  // By node, of what is new: itself and what is reached through it.
  Column<float> bytes_;
  Column<float> objects_;
  Column<std::uint32_t> branches_;
  Column<std::uint32_t> heaviest_;
  std::uint32_t top_ = kNone;
  std::uint32_t sample_ = kNone;  // one of those that leak
};

std::string signed_count(std::int64_t value) {
  return (value < 0 ? "-" : "+") + with_thousands(static_cast<std::uint64_t>(value < 0 ? -value : value));
}

std::string signed_bytes(std::int64_t value) {
  return (value < 0 ? "-" : "") + human_bytes(static_cast<std::uint64_t>(value < 0 ? -value : value));
}

std::string changes_text(const std::vector<std::uint64_t>& counts) {
  std::string text;
  for (std::size_t i = 1; i < counts.size(); ++i) {
    text += (i == 1 ? "" : ", ") +
            signed_count(static_cast<std::int64_t>(counts[i]) - static_cast<std::int64_t>(counts[i - 1]));
  }
  return text;
}

}  // namespace

LeakAnswer find_leak(std::span<const HeapBaseline> older, const HeapDiff& diff, const HeapAnalysis& newest) {
  return LeakFinder(older, diff, newest).find();
}

std::string leak_sentence(const LeakAnswer& answer) {
  if (answer.leak) {
    const HeapLeak& leak = *answer.leak;
    std::string text = fmt::format("{} {} ({}), held by {}{}", leak.name, signed_count(leak.count_delta),
                                   signed_bytes(leak.retained_delta_bytes), leak.holder, leak.owners);
    if (leak.counts.size() > 2) text += fmt::format("; steady: {}", changes_text(leak.counts));
    return text;
  }
  const std::string change = answer.bytes_delta < 0 ? "shrank by " + signed_bytes(-answer.bytes_delta)
                                                    : "grew by " + signed_bytes(answer.bytes_delta);
  if (answer.step) {
    return fmt::format("Nothing leaks: {} grew in one step and stayed ({}); the heap {}", answer.step->name,
                       changes_text(answer.step->counts), change);
  }
  return fmt::format("Nothing leaks: no objects pile up in one place; the heap {}", change);
}

}  // namespace nodescope
