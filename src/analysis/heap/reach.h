#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/heap/heap_analysis.h"
#include "base/flat_map.h"
#include "model/heap_graph.h"

namespace nodescope {

// How every object is reached: one shortest path from the program's own roots, or else from the root of all,
// along what keeps objects alive.
struct Reach {
  static constexpr std::uint32_t kNone = HeapGraph::kNone;

  Column<std::uint32_t> order;                     // what is reached, nearest first
  Column<std::uint32_t> parents;                   // by node; kNone: a root, or not reached
  Column<std::uint32_t> edges;                     // by node: from its parent; kNone as above
  FlatMap<std::uint32_t, std::uint32_t> closures;  // by context: a function that was made in it
};
Reach derive_reach(const HeapGraph& graph);

// What V8's own reference `name` of a node leads to; kNone: it has none.
std::uint32_t internal_target(const HeapGraph& graph, std::uint32_t node, std::string_view name);

// From a root to `node`, both included.
std::vector<std::uint32_t> path_to(const Reach& reach, std::uint32_t node);

}  // namespace nodescope
