#include "analysis/heap/heap_analysis.h"

#include <algorithm>

#include "analysis/heap/shallow_sizes.h"

namespace nodescope {

HeapAnalysis::HeapAnalysis(const HeapGraph& graph) : HeapAnalysis(graph, EphemeronNames(graph)) {}

// In this order the columns that live on are few while the dominators need theirs.
HeapAnalysis::HeapAnalysis(const HeapGraph& graph, const EphemeronNames& ephemerons)
    : graph_(graph),
      names_(graph),
      shallow_sizes_(derive_shallow_sizes(graph, names_)),
      dominators_(derive_dominators(graph, find_essential_edges(graph, ephemerons))),
      tree_(dominators_, graph.root),
      retained_sizes_(derive_retained_sizes(dominators_, tree_, shallow_sizes_)),
      distances_(derive_distances(graph, names_, ephemerons)),
      interfaces_(infer_interfaces(graph, names_)),
      classes_(classify(graph, names_, interfaces_)) {}

namespace {

bool is_string(HeapNodeType type) {
  return type == HeapNodeType::kString || type == HeapNodeType::kConcatenatedString ||
         type == HeapNodeType::kSlicedString;
}

// The backing stores of arrays that nothing else refers to.
class ArrayElements {
 public:
  explicit ArrayElements(const HeapGraph& graph)
      : graph_(graph), seen_(graph.node_count()), again_(graph.node_count()) {
    for (const std::uint32_t target : graph.edge_targets) {
      if (seen_[target]) again_.set(target);
      seen_.set(target);
    }
  }

  std::uint64_t bytes_of(const HeapAnalysis& heap, std::uint32_t node) {
    for (std::size_t edge = graph_.edge_begins[node]; edge < graph_.edge_begins[node + 1]; ++edge) {
      if (graph_.edge_type(edge) != HeapEdgeType::kInternal ||
          graph_.strings[graph_.edge_names[edge]] != "elements")
        continue;
      const std::uint32_t elements = graph_.edge_targets[edge];
      return again_[elements] ? 0 : heap.shallow_size(elements);
    }
    return 0;
  }

 private:
  const HeapGraph& graph_;
  Bits seen_;
  Bits again_;  // more than one refers to it
};

}  // namespace

HeapStatistics derive_statistics(const HeapAnalysis& heap) {
  const HeapGraph& graph = heap.graph();
  ArrayElements elements(graph);
  HeapStatistics bytes;
  bytes.total = heap.total_bytes();
  bytes.native = graph.extra_native_bytes;
  for (std::uint32_t node = 0; node < graph.node_count(); ++node) {
    const std::uint64_t size = heap.shallow_size(node);
    const HeapNodeType type = graph.type(node);
    if (type == HeapNodeType::kHidden) {
      bytes.system += size;
    } else if (type == HeapNodeType::kNative) {
      bytes.native += size;
      if (heap.names().text_of(node) == "system / JSArrayBufferData") bytes.typed_arrays += size;
    } else if (type == HeapNodeType::kCode) {
      bytes.code += size;
    } else if (is_string(type)) {
      bytes.strings += size;
    } else if (heap.names().text_of(node) == "Array") {
      bytes.js_arrays += size + elements.bytes_of(heap, node);
    }
  }
  return bytes;
}

namespace {

// Walks down the dominators' tree: a node adds its retained size to its class unless one of the same class
// that did so is above it.
void add_retained_sizes(const HeapAnalysis& heap, const Column<std::uint32_t>& class_of,
                        std::vector<HeapGroup>& by_class) {
  struct Step {
    std::uint32_t node;
    std::uint32_t next;
    bool opened;  // its class is among those above
  };
  std::vector<bool> above(by_class.size());
  std::vector<Step> path;
  const auto enter = [&](std::uint32_t node) {
    const std::uint32_t id = class_of[node];
    const bool counts = !above[id] && heap.shallow_size(node) != 0;
    if (counts) by_class[id].retained_bytes += heap.retained_size(node);
    if (heap.dominator_tree().children(node).empty()) return;
    if (counts) above[id] = true;
    path.push_back({node, 0, counts});
  };
  enter(heap.graph().root);
  while (!path.empty()) {
    Step& step = path.back();
    const auto children = heap.dominator_tree().children(step.node);
    if (step.next < children.size()) {
      enter(children[step.next++]);
      continue;
    }
    if (step.opened) above[class_of[step.node]] = false;
    path.pop_back();
  }
}

}  // namespace

std::vector<HeapGroup> derive_groups(const HeapAnalysis& heap) {
  return derive_groups(heap, heap.classes());
}

std::vector<HeapGroup> derive_groups(const HeapAnalysis& heap, const HeapClasses& classes) {
  std::vector<HeapGroup> groups(classes.classes.size());
  for (std::uint32_t i = 0; i < groups.size(); ++i) groups[i].heap_class = i;
  for (std::uint32_t node = 0; node < heap.graph().node_count(); ++node) {
    const std::uint64_t size = heap.shallow_size(node);
    if (size == 0) continue;
    HeapGroup& group = groups[classes.of_node[node]];
    group.distance = group.count == 0 ? heap.distance(node) : std::min(group.distance, heap.distance(node));
    ++group.count;
    group.shallow_bytes += size;
  }
  add_retained_sizes(heap, classes.of_node, groups);
  std::erase_if(groups, [](const HeapGroup& group) { return group.count == 0; });
  std::ranges::stable_sort(groups, std::greater<>(), &HeapGroup::retained_bytes);
  return groups;
}

}  // namespace nodescope
