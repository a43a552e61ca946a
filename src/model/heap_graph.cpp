#include "model/heap_graph.h"

#include <algorithm>

namespace nodescope {

std::uint32_t HeapGraph::edge_source(std::size_t edge) const {
  const auto after =
      std::upper_bound(edge_begins.begin(), edge_begins.end(), static_cast<std::uint32_t>(edge));
  return static_cast<std::uint32_t>(after - edge_begins.begin() - 1);
}

void HeapGraphBuilder::reserve(std::size_t nodes, std::size_t edges) {
  graph_.types.reserve(nodes);
  graph_.names.reserve(nodes);
  graph_.edge_begins.reserve(nodes + 1);
  graph_.edge_types.reserve(edges);
  graph_.edge_names.reserve(edges);
  graph_.edge_targets.reserve(edges);
}

std::uint32_t HeapGraphBuilder::intern(std::string_view text) {
  for (std::uint64_t hash = hash_bytes(text);; ++hash) {
    const auto [entry, is_new] =
        ids_by_hash_.try_emplace(hash, static_cast<std::uint32_t>(graph_.strings.size()));
    if (is_new) return graph_.strings.add(text);
    if (graph_.strings[entry->second] == text) return entry->second;
  }
}

std::uint32_t HeapGraphBuilder::add_node(const Node& node) {
  const auto state = static_cast<std::uint8_t>(node.dom_state);
  graph_.types.push_back(static_cast<std::uint8_t>(
      static_cast<std::uint8_t>(node.type) | static_cast<unsigned>(state) << HeapGraph::kDomStateShift));
  graph_.has_dom_states = true;
  graph_.names.push_back(node.name);
  graph_.ids.push_back(node.id);
  graph_.self_sizes.push_back(node.self_size);
  graph_.edge_begins.push_back(graph_.edge_begins.back());
  return static_cast<std::uint32_t>(graph_.node_count() - 1);
}

void HeapGraphBuilder::add_edge(HeapEdgeType type, std::uint32_t name, std::uint32_t to) {
  NODESCOPE_CHECK(graph_.node_count() != 0);
  ++edges_;
  graph_.edge_types.push_back(static_cast<std::uint8_t>(type));
  graph_.edge_names.push_back(name);
  graph_.edge_targets.push_back(to);
  ++graph_.edge_begins.back();
}

void HeapGraphBuilder::add_self_size(std::uint32_t node, std::uint64_t bytes) {
  graph_.self_sizes.set(node, graph_.self_sizes[node] + bytes);
}

Result<HeapGraph> HeapGraphBuilder::finish() && {
  const std::size_t count = graph_.node_count();
  if (count == 0) return fail(ErrorCode::kInvalidInput, "a heap without a single object");
  if (count >= HeapGraph::kNone || edges_ >= HeapGraph::kNone)
    return fail(ErrorCode::kLimit, "more than 4,294,967,294 objects or references");
  if (std::ranges::any_of(graph_.edge_targets, [&](std::uint32_t to) { return to >= count; }) ||
      std::ranges::any_of(graph_.locations, [&](const HeapLocation& at) { return at.node >= count; }))
    return fail(ErrorCode::kInvalidInput, "a reference to an object that is not there");
  return std::move(graph_);
}

}  // namespace nodescope
