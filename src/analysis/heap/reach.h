#pragma once

#include <cstdint>
#include <vector>

#include "analysis/heap/heap_analysis.h"
#include "model/heap_graph.h"

namespace nodescope {

// How every object is reached: one shortest path from the program's own roots, or else from the root of all,
// along what keeps objects alive.
struct Reach {
  static constexpr std::uint32_t kNone = HeapGraph::kNone;

  Column<std::uint32_t> order;    // what is reached, nearest first
  Column<std::uint32_t> parents;  // by node; kNone: a root, or not reached
  Column<std::uint32_t> edges;    // by node: from its parent; kNone as above
};
Reach derive_reach(const HeapGraph& graph);

// From a root to `node`, both included.
std::vector<std::uint32_t> path_to(const Reach& reach, std::uint32_t node);

}  // namespace nodescope
