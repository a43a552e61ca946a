#pragma once

#include "analysis/heap/bits.h"
#include "analysis/heap/ephemerons.h"
#include "model/heap_graph.h"

namespace nodescope {

// The edges that keep something alive, by DevTools' rules (computeIsEssentialEdge): no weak ones, none from
// an object to itself, an entry of a WeakMap by its key alone, and nothing that only V8 refers to what the
// program owns with.
Bits find_essential_edges(const HeapGraph& graph, const EphemeronNames& ephemerons);

// For every node the nearest one through which every path from the root leads, along `essential` edges.  What
// has no such edge into it hangs on the root, as does what the root does not reach; the root dominates
// itself. Near-linear in nodes and edges (semi-NCA with path compression), without recursion.
Column<std::uint32_t> derive_dominators(const HeapGraph& graph, const Bits& essential);

// The dominated nodes of every node.
class DominatorTree {
 public:
  DominatorTree(const Column<std::uint32_t>& dominators, std::uint32_t root);

  std::uint32_t root() const { return root_; }
  std::span<const std::uint32_t> children(std::uint32_t node) const {
    return std::span(children_).subspan(begins_[node], begins_[node + 1] - begins_[node]);
  }

 private:
  std::uint32_t root_;
  Column<std::uint32_t> begins_;
  Column<std::uint32_t> children_;
};

// What would be freed with each node: the sizes of all that it dominates, and its own.
WideColumn derive_retained_sizes(const Column<std::uint32_t>& dominators, const DominatorTree& tree,
                                 const WideColumn& shallow_sizes);

}  // namespace nodescope
