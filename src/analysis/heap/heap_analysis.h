#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/heap/classes.h"
#include "analysis/heap/distances.h"
#include "analysis/heap/dominators.h"
#include "analysis/heap/heap_names.h"
#include "analysis/heap/interfaces.h"
#include "model/heap_graph.h"

namespace nodescope {

// What is derived from every heap, all by the rules of DevTools' engine and equal to it, except that sizes
// are not cut to 32 bits.  Refers to the graph, which has to outlive it.
class HeapAnalysis {
 public:
  explicit HeapAnalysis(const HeapGraph& graph);
  HeapAnalysis(const HeapAnalysis&) = delete;
  HeapAnalysis& operator=(const HeapAnalysis&) = delete;

  const HeapGraph& graph() const { return graph_; }
  HeapNames& names() { return names_; }
  const HeapNames& names() const { return names_; }

  std::uint64_t shallow_size(std::uint32_t node) const { return shallow_sizes_[node]; }
  std::uint64_t retained_size(std::uint32_t node) const { return retained_sizes_[node]; }
  std::int32_t distance(std::uint32_t node) const { return distances_[node]; }
  std::uint32_t dominator(std::uint32_t node) const { return dominators_[node]; }
  const DominatorTree& dominator_tree() const { return tree_; }

  const std::vector<HeapInterface>& interfaces() const { return interfaces_; }
  const HeapClasses& classes() const { return classes_; }
  std::string_view class_name(std::uint32_t node) const {
    return names_.text(classes_.classes[classes_.of_node[node]].name);
  }

  // Of all nodes, and what V8 says that lies outside of them.
  std::uint64_t total_bytes() const { return retained_sizes_[graph_.root] + graph_.extra_native_bytes; }

 private:
  HeapAnalysis(const HeapGraph& graph, const EphemeronNames& ephemerons);

  const HeapGraph& graph_;
  HeapNames names_;
  WideColumn shallow_sizes_;
  Column<std::uint32_t> dominators_;
  DominatorTree tree_;
  WideColumn retained_sizes_;
  Column<std::int32_t> distances_;
  std::vector<HeapInterface> interfaces_;
  HeapClasses classes_;
};

// The bytes of a heap by what they are for (JSHeapSnapshot.calculateStatistics).
struct HeapStatistics {
  std::uint64_t total = 0;
  std::uint64_t native = 0;
  std::uint64_t typed_arrays = 0;  // of native
  std::uint64_t code = 0;
  std::uint64_t js_arrays = 0;
  std::uint64_t strings = 0;
  std::uint64_t system = 0;

  bool operator==(const HeapStatistics&) const = default;
};
HeapStatistics derive_statistics(const HeapAnalysis& heap);

// One row of the summary.
struct HeapGroup {
  std::uint32_t heap_class = 0;  // index in HeapClasses
  std::uint64_t count = 0;       // of nodes with a size
  std::uint64_t shallow_bytes = 0;
  std::uint64_t retained_bytes =
      0;  // by at least one of them: what one of the class retains through another counts once
  std::int32_t distance = 0;  // the smallest
};
// Largest retained size first.
std::vector<HeapGroup> derive_groups(const HeapAnalysis& heap);
// The same with other classes for the nodes of this heap.
std::vector<HeapGroup> derive_groups(const HeapAnalysis& heap, const HeapClasses& classes);

}  // namespace nodescope
