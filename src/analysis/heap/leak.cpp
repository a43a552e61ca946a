#include "analysis/heap/leak.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/heap/grown_object.h"
#include "analysis/heap/holder.h"
#include "analysis/heap/leak_classes.h"
#include "analysis/heap/place.h"
#include "base/text.h"

namespace nodescope {

namespace {

constexpr std::uint32_t kNone = HeapGraph::kNone;

// Of the new objects of a class, this share is reached through the holder.
constexpr double kLeastShareOfHolder = 0.5;
constexpr int kMostAttempts = 12;
constexpr std::size_t kFewModules = 3;

// The objects below one holder, by class.
struct Below {
  double count = 0;
  double depths = 0;

  double depth() const { return depths / count; }
};

class LeakFinder {
 public:
  LeakFinder(std::span<const HeapBaseline> older, const HeapDiff& diff, const HeapAnalysis& newest,
             const Reach& reach)
      : older_(older),
        heap_(newest),
        graph_(newest.graph()),
        reach_(reach),
        growth_(older, diff, newest),
        bytes_delta_(diff.bytes_delta) {}

  LeakAnswer find() {
    LeakAnswer answer;
    answer.bytes_delta = bytes_delta_;
    answer.snapshots = older_.size() + 1;
    std::vector<bool> excluded(growth_.size());
    for (int attempt = 0; attempt < kMostAttempts && !answer.leak; ++attempt) {
      const std::uint32_t heaviest = heaviest_class(excluded);
      if (heaviest == kNone) break;
      excluded[heaviest] = true;
      answer.leak = leak_of(heaviest);
    }
    if (!answer.leak) answer.leak = leak_of_one_object();
    if (!answer.leak) answer.step = largest_step();
    return answer;
  }

  // The heaviest first, each with a holder of its own.
  std::vector<HeapLeak> find_several(std::size_t most) const {
    std::vector<HeapLeak> leaks;
    std::vector<bool> excluded(growth_.size());
    for (int attempt = 0; attempt < kMostAttempts && leaks.size() < most; ++attempt) {
      const std::uint32_t heaviest = heaviest_class(excluded);
      if (heaviest == kNone) break;
      excluded[heaviest] = true;
      auto leak = leak_of(heaviest);
      const bool is_known = leak && std::ranges::find(leaks, leak->holder, &HeapLeak::holder) != leaks.end();
      if (leak && !is_known) leaks.push_back(std::move(*leak));
    }
    return leaks;
  }

 private:
  std::int64_t weight(std::uint32_t heap_class) const {
    return std::max(growth_.row(heap_class).retained_delta_bytes, growth_.row(heap_class).bytes_delta());
  }

  std::uint32_t heaviest_class(const std::vector<bool>& excluded) const {
    std::uint32_t best = kNone;
    for (std::uint32_t i = 0; i < growth_.size(); ++i) {
      if (excluded[i] || !growth_.is_leak(i)) continue;
      if (best == kNone || weight(i) > weight(best)) best = i;
    }
    return best;
  }

  bool counts(std::uint32_t heap_class, std::uint32_t node) const {
    return heap_.classes().of_node[node] == heap_class && heap_.shallow_size(node) != 0 &&
           growth_.is_new(node);
  }

  std::optional<HeapHolder> holder_of(std::uint32_t heap_class) const {
    auto holder = find_holder(heap_, reach_, [&](std::uint32_t node) { return counts(heap_class, node); });
    if (!holder || holder->is_root || is_loading_code(heap_class, *holder)) return std::nullopt;
    return holder;
  }

  // Modules are loaded when they are needed first, and stay.  Two snapshots show that as growth.
  bool is_loading_code(std::uint32_t heap_class, const HeapHolder& holder) const {
    for (const std::uint32_t node : path_to(reach_, holder.node)) {
      const std::string_view name = graph_.name(node);
      if (name == "BuiltinModule" || name == "NativeModule") return true;
    }
    if (older_.size() > 1 || growth_[heap_class].kind < HeapClassKind::kLibrary) return false;
    return new_modules_below(holder.node) >= kFewModules || is_of_v8_or_node(holder.node, heap_class);
  }

  // A function that is no code of the program, such as Array.
  bool is_of_v8_or_node(std::uint32_t node, std::uint32_t element_class) const {
    const std::uint32_t visible = visible_holder(node, element_class);
    if (graph_.type(visible) != HeapNodeType::kClosure) return false;
    const std::string script = script_of(graph_, visible);
    return script.empty() || script.starts_with("node:");
  }

  std::size_t new_modules_below(std::uint32_t holder) const {
    std::size_t modules = 0;
    for_each_below(holder, [&](std::uint32_t node) {
      if (graph_.type(node) == HeapNodeType::kObject && graph_.name(node) == "Module" && growth_.is_new(node))
        ++modules;
    });
    return modules;
  }

  // What grows around the objects of this class: they themselves, or those of the program that they came
  // along with.
  std::optional<HeapLeak> leak_of(std::uint32_t heaviest) const {
    const auto around = holder_of(heaviest);
    if (!around) return std::nullopt;
    const std::uint32_t leaking = choose_class(heaviest, *around);
    if (leaking == heaviest) return describe(*around, leaking);
    const auto holder = holder_of(leaking);
    return holder ? describe(*holder, leaking) : describe(*around, heaviest);
  }

  std::uint32_t choose_class(std::uint32_t heaviest, const HeapHolder& holder) const {
    const std::vector<Below> below = count_below(holder.node);
    std::uint32_t best = heaviest;
    for (std::uint32_t i = 0; i < below.size(); ++i) {
      const auto grown = static_cast<double>(growth_.row(i).count_delta());
      if (i == best || below[i].count == 0 || below[i].count < kLeastShareOfHolder * grown) continue;
      // As many as there are of what they came along with.
      if (below[i].count < kLeastShareOfHolder * static_cast<double>(holder.through) &&
          below[heaviest].count > 0 && below[i].depth() > below[heaviest].depth())
        continue;
      if (growth_.is_leak(i) && is_better(i, best, below)) best = i;
    }
    return best;
  }

  // The program's own classes first, then what is nearest to the holder.
  bool is_better(std::uint32_t one, std::uint32_t other, const std::vector<Below>& below) const {
    if (growth_[one].kind != growth_[other].kind) return growth_[one].kind < growth_[other].kind;
    constexpr double kSameDepth = 0.5;
    const double nearer = below[other].depth() - below[one].depth();
    if (std::abs(nearer) > kSameDepth) return nearer > 0;
    return weight(one) > weight(other);
  }

  std::vector<Below> count_below(std::uint32_t holder) const {
    std::vector<Below> below(growth_.size());
    Column<std::uint32_t> depths;
    depths.assign(graph_.node_count(), 0);
    for_each_below(holder, [&](std::uint32_t node) {
      depths[node] = depths[reach_.parents[node]] + 1;
      const std::uint32_t id = heap_.classes().of_node[node];
      if (!growth_[id].grows || !counts(id, node)) return;
      ++below[id].count;
      below[id].depths += depths[node];
    });
    return below;
  }

  // What is reached through `holder`, nearest first.
  void for_each_below(std::uint32_t holder, const auto& visit) const {
    Bits inside(graph_.node_count());
    inside.set(holder);
    for (const std::uint32_t node : reach_.order) {
      const std::uint32_t parent = reach_.parents[node];
      if (parent == kNone || !inside[parent]) continue;
      inside.set(node);
      visit(node);
    }
  }

  // The object of the program that holds them: V8's backing stores belong to it, and a list begins before its
  // first element.
  std::uint32_t visible_holder(std::uint32_t node, std::uint32_t element_class) const {
    while (reach_.parents[node] != kNone && ((is_v8_internal(graph_, node) && !is_context(graph_, node)) ||
                                             heap_.classes().of_node[node] == element_class))
      node = reach_.parents[node];
    return node;
  }

  HeapLeak describe(const HeapHolder& holder, std::uint32_t leaking) const {
    const HeapDiffRow& change = growth_.row(leaking);
    HeapLeak leak;
    leak.name =
        graph_.type(holder.sample) == HeapNodeType::kClosure ? closure_name(holder.sample) : change.name;
    leak.count_delta = change.count_delta();
    leak.retained_delta_bytes = change.retained_delta_bytes;
    leak.counts = growth_[leaking].counts;
    leak.heap_class = leaking;
    leak.holder_node = holder.node;
    leak.sample = holder.sample;
    describe_holder(visible_holder(holder.node, leaking), leak);
    describe_path(leak);
    return leak;
  }

  void describe_holder(std::uint32_t holder, HeapLeak& leak) const {
    if (is_context(graph_, holder) || is_global(graph_, holder)) {  // a variable refers to the first of them
      const std::uint32_t first = child_towards(holder, leak.sample);
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

  void describe_path(HeapLeak& leak) const {
    for (const std::uint32_t node : path_to(reach_, leak.sample)) {
      const std::uint32_t edge = reach_.edges[node];
      leak.path.push_back({node_text(heap_, node), edge == kNone ? std::string() : edge_text(graph_, edge)});
    }
  }

  std::uint32_t child_towards(std::uint32_t holder, std::uint32_t node) const {
    while (node != holder && reach_.parents[node] != holder) node = reach_.parents[node];
    return node;
  }

  std::string closure_name(std::uint32_t closure) const {
    const std::string_view name = graph_.name(closure);
    return name.empty() ? "closure" : fmt::format("closure {}", name);
  }

  // One object that grows by itself: an array of numbers, a text that is added to.
  std::optional<HeapLeak> leak_of_one_object() const {
    const auto grown = find_grown_object(older_, heap_, reach_);
    if (!grown) return std::nullopt;
    HeapLeak leak;
    leak.heap_class = heap_.classes().of_node[grown->node];
    leak.name = node_text(heap_, grown->node);
    leak.retained_delta_bytes = grown->bytes_delta;
    leak.holder_node = grown->node;
    leak.sample = grown->node;
    describe_holder(grown->node, leak);
    describe_path(leak);
    return leak;
  }

  std::optional<HeapStep> largest_step() const {
    std::optional<HeapStep> step;
    std::int64_t bytes = 0;
    if (older_.size() < 2) return step;
    for (std::uint32_t i = 0; i < growth_.size(); ++i) {
      const ClassGrowth::Entry& entry = growth_[i];
      if (entry.counts.empty() || entry.kind > HeapClassKind::kBuiltin ||
          trend_of(entry.counts) != HeapTrend::kStep)
        continue;
      const HeapDiffRow& change = growth_.row(i);
      if (change.count_delta() < growth_.least_count(i) || change.bytes_delta() <= bytes) continue;
      bytes = change.bytes_delta();
      step = HeapStep{change.name, entry.counts};
    }
    return step;
  }

  std::span<const HeapBaseline> older_;
  const HeapAnalysis& heap_;
  const HeapGraph& graph_;
  const Reach& reach_;
  ClassGrowth growth_;
  std::int64_t bytes_delta_;
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

LeakAnswer find_leak(std::span<const HeapBaseline> older, const HeapDiff& diff, const HeapAnalysis& newest,
                     const Reach& reach) {
  return LeakFinder(older, diff, newest, reach).find();
}

std::vector<HeapLeak> find_what_fills(const HeapAnalysis& heap, std::size_t most) {
  HeapGraphBuilder builder;
  builder.add_node({HeapNodeType::kSynthetic, builder.intern(""), 1, 0, DomState::kUnknown});
  const auto nothing = std::move(builder).finish();
  if (!nothing) return {};
  std::vector<HeapBaseline> older;
  older.emplace_back(HeapAnalysis(*nothing), heap.interfaces());
  const HeapDiff diff = derive_heap_diff(older.front(), heap);
  return LeakFinder(older, diff, heap, derive_reach(heap.graph())).find_several(most);
}

std::string leak_sentence(const LeakAnswer& answer) {
  if (answer.leak) {
    const HeapLeak& leak = *answer.leak;
    if (leak.count_delta == 0) {
      return fmt::format("{}{} grew by {}", leak.holder, leak.owners,
                         signed_bytes(leak.retained_delta_bytes));
    }
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
