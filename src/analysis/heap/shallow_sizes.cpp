#include "analysis/heap/shallow_sizes.h"

#include <vector>

namespace nodescope {

namespace {

constexpr std::uint32_t kNobody = HeapGraph::kNone;       // nobody was seen yet
constexpr std::uint32_t kSeveral = HeapGraph::kNone - 1;  // more than one

bool is_documents(const HeapGraph& graph, std::uint32_t node) {
  return graph.type(node) == HeapNodeType::kSynthetic && graph.name(node) == "(Document DOM trees)";
}

bool can_be_owned(const HeapGraph& graph, const HeapNames& names, std::uint32_t node) {
  switch (graph.type(node)) {
    case HeapNodeType::kHidden:
    case HeapNodeType::kArray:
      return true;
    case HeapNodeType::kNative:
      return names.text_of(node) == "system / ExternalStringData";
    default:
      return false;
  }
}

// The owner of every node: itself, another, kNobody or kSeveral.
Column<std::uint32_t> find_owners(const HeapGraph& graph, const HeapNames& names) {
  Column<std::uint32_t> owners(graph.node_count());
  for (std::uint32_t node = 0; node < graph.node_count(); ++node)
    owners[node] = can_be_owned(graph, names, node) ? kNobody : node;
  std::vector<std::uint32_t> waiting;
  for (std::uint32_t first = 0; first < graph.node_count(); ++first) {
    if (owners[first] != first) continue;  // reached from those that own themselves
    waiting.push_back(first);
    while (!waiting.empty()) {
      const std::uint32_t node = waiting.back();
      waiting.pop_back();
      const std::uint32_t owner = owners[node];
      for (std::size_t edge = graph.edge_begins[node]; edge < graph.edge_begins[node + 1]; ++edge) {
        if (graph.edge_type(edge) == HeapEdgeType::kWeak) continue;
        const std::uint32_t target = graph.edge_targets[edge];
        const std::uint32_t known = owners[target];
        if (known == target || known == owner || known == kSeveral) continue;
        owners[target] = known == kNobody ? owner : kSeveral;
        waiting.push_back(target);
      }
    }
  }
  return owners;
}

}  // namespace

bool is_user_root(const HeapGraph& graph, std::uint32_t node) {
  return graph.type(node) != HeapNodeType::kSynthetic || is_documents(graph, node);
}

bool has_user_root(const HeapGraph& graph) {
  for (std::size_t edge = graph.edge_begins[graph.root]; edge < graph.edge_begins[graph.root + 1]; ++edge) {
    if (is_user_root(graph, graph.edge_targets[edge])) return true;
  }
  return false;
}

Bits find_page_owned(const HeapGraph& graph) {
  Bits owned(graph.node_count());
  std::vector<std::uint32_t> waiting;
  const auto reach = [&](std::uint32_t node) {
    if (owned[node]) return;
    owned.set(node);
    waiting.push_back(node);
  };
  for (std::size_t edge = graph.edge_begins[graph.root]; edge < graph.edge_begins[graph.root + 1]; ++edge) {
    const std::uint32_t target = graph.edge_targets[edge];
    const HeapEdgeType type = graph.edge_type(edge);
    if (type == HeapEdgeType::kShortcut || (type == HeapEdgeType::kElement && is_documents(graph, target)))
      reach(target);
  }
  while (!waiting.empty()) {
    const std::uint32_t node = waiting.back();
    waiting.pop_back();
    for (std::size_t edge = graph.edge_begins[node]; edge < graph.edge_begins[node + 1]; ++edge) {
      if (graph.edge_type(edge) != HeapEdgeType::kWeak) reach(graph.edge_targets[edge]);
    }
  }
  return owned;
}

WideColumn derive_shallow_sizes(const HeapGraph& graph, const HeapNames& names) {
  WideColumn sizes = graph.self_sizes;
  if (!has_user_root(graph)) return sizes;
  const Column<std::uint32_t> owners = find_owners(graph, names);
  for (std::uint32_t node = 0; node < graph.node_count(); ++node) {
    const std::uint32_t owner = owners[node];
    if (owner >= kSeveral || owner == node || owner == graph.root ||
        graph.type(owner) == HeapNodeType::kSynthetic)
      continue;
    const std::uint64_t size = sizes[node];
    sizes.set(node, 0);
    sizes.set(owner, sizes[owner] + size);
  }
  return sizes;
}

}  // namespace nodescope
