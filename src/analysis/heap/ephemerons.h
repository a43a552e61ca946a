#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analysis/heap/bits.h"
#include "base/flat_map.h"
#include "model/heap_graph.h"

namespace nodescope {

// What the name of an edge says that stands for the entry of a WeakMap: the value is alive only while both
// key and table are.  V8 writes two such edges for an entry, one from the table and one from the key, named
//   "<number> / part of key (<name> @<id>) -> value (<name> @<id>) pair in WeakMap (table @<id>)"
struct Ephemeron {
  std::uint64_t table_id = 0;
  std::string_view pair;  // the name without its number: the same for both edges
};
std::optional<Ephemeron> parse_ephemeron(std::string_view name);

// All such names of a snapshot.
class EphemeronNames {
 public:
  explicit EphemeronNames(const HeapGraph& graph);

  // Null for an edge of another kind.
  const Ephemeron* find(std::size_t edge) const {
    if (graph_.edge_type(edge) != HeapEdgeType::kInternal) return nullptr;
    const std::uint32_t name = graph_.edge_names[edge];
    return name < graph_.strings.size() && is_one_[name] ? &known_.find(name)->second : nullptr;
  }

 private:
  const HeapGraph& graph_;
  Bits is_one_;
  FlatMap<std::uint64_t, Ephemeron> known_;  // by name
};

}  // namespace nodescope
