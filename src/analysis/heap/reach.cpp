#include "analysis/heap/reach.h"

#include <algorithm>

#include "analysis/heap/shallow_sizes.h"

namespace nodescope {

namespace {

class Walk {
 public:
  Walk(const HeapGraph& graph, const Bits& essential, Reach& reach)
      : graph_(graph), essential_(essential), reach_(reach), seen_(graph.node_count()) {}

  void start(std::uint32_t node) {
    if (seen_[node]) return;
    seen_.set(node);
    reach_.order.push_back(node);
  }
  void walk() {
    for (; next_ < reach_.order.size(); ++next_) {
      const std::uint32_t node = reach_.order[next_];
      for (std::uint32_t edge = graph_.edge_begins[node]; edge < graph_.edge_begins[node + 1]; ++edge) {
        const std::uint32_t target = graph_.edge_targets[edge];
        if (!essential_[edge] || seen_[target]) continue;
        seen_.set(target);
        reach_.parents[target] = node;
        reach_.edges[target] = edge;
        reach_.order.push_back(target);
      }
    }
  }

 private:
  const HeapGraph& graph_;
  const Bits& essential_;
  Reach& reach_;
  Bits seen_;
  std::size_t next_ = 0;
};

FlatMap<std::uint32_t, std::uint32_t> closures_by_context(const HeapGraph& graph) {
  FlatMap<std::uint32_t, std::uint32_t> closures;
  for (std::uint32_t node = 0; node < graph.node_count(); ++node) {
    if (graph.type(node) != HeapNodeType::kClosure) continue;
    const std::uint32_t context = internal_target(graph, node, "context");
    if (context != HeapGraph::kNone) closures.try_emplace(context, node);
  }
  return closures;
}

}  // namespace

std::uint32_t internal_target(const HeapGraph& graph, std::uint32_t node, std::string_view name) {
  for (std::uint32_t edge = graph.edge_begins[node]; edge < graph.edge_begins[node + 1]; ++edge) {
    if (graph.edge_type(edge) == HeapEdgeType::kInternal && graph.strings[graph.edge_names[edge]] == name)
      return graph.edge_targets[edge];
  }
  return HeapGraph::kNone;
}

Reach derive_reach(const HeapGraph& graph) {
  Reach reach;
  reach.order.reserve(graph.node_count());
  reach.parents.assign(graph.node_count(), Reach::kNone);
  reach.edges.assign(graph.node_count(), Reach::kNone);
  const Bits essential = find_essential_edges(graph, EphemeronNames(graph));
  Walk walk(graph, essential, reach);
  for (std::size_t edge = graph.edge_begins[graph.root]; edge < graph.edge_begins[graph.root + 1]; ++edge) {
    if (is_user_root(graph, graph.edge_targets[edge])) walk.start(graph.edge_targets[edge]);
  }
  walk.walk();
  walk.start(graph.root);
  walk.walk();
  reach.closures = closures_by_context(graph);
  return reach;
}

std::vector<std::uint32_t> path_to(const Reach& reach, std::uint32_t node) {
  std::vector<std::uint32_t> path = {node};
  while (reach.parents[path.back()] != Reach::kNone) path.push_back(reach.parents[path.back()]);
  std::ranges::reverse(path);
  return path;
}

}  // namespace nodescope
