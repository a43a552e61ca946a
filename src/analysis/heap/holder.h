#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "analysis/heap/heap_analysis.h"
#include "analysis/heap/reach.h"

namespace nodescope {

// The deepest object through which at least half of some objects are reached; for links of a list or a tree,
// what refers to the first of them.
struct HeapHolder {
  std::uint32_t node = 0;
  bool is_root = false;      // or the global object: they are held in many places
  std::uint32_t sample = 0;  // the nearest of them that is reached through it
  std::uint64_t objects = 0;
  std::uint64_t through = 0;              // of them
  Column<std::uint32_t> objects_by_node;  // how many are reached through each node
};
// Nothing where `counts` names no object that is reached.
std::optional<HeapHolder> find_holder(const HeapAnalysis& heap, const Reach& reach,
                                      const std::function<bool(std::uint32_t)>& counts);

// The object of the program that keeps the most alive: down the dominators' tree while one child has most of
// it.  Nothing where none keeps a tenth of the heap.
std::optional<std::uint32_t> find_largest_keeper(const HeapAnalysis& heap);
// That in one sentence.
std::string keeper_sentence(const HeapAnalysis& heap, const Reach& reach,
                            std::optional<std::uint32_t> keeper);

}  // namespace nodescope
