#pragma once

#include <cstdint>
#include <string_view>

#include "base/flat_map.h"
#include "base/string_table.h"
#include "model/heap_graph.h"

namespace nodescope {

// A name of a node or of a class: a text of the snapshot, or one that DevTools makes.
using HeapName = std::uint32_t;

// The names of nodes as DevTools has them: what hangs on the DOM and is detached from it is "Detached …".  A
// text that is made is another one than an equal text of the snapshot, as in DevTools.
class HeapNames {
 public:
  explicit HeapNames(const HeapGraph& graph);

  HeapName of(std::uint32_t node) const {
    if (renamed_.empty()) return graph_.names[node];
    const auto other = renamed_.find(node);
    return other == renamed_.end() ? graph_.names[node] : other->second;
  }
  std::string_view text(HeapName name) const {
    return name < first_made_ ? graph_.strings[name] : made_[StringId{name - first_made_}];
  }
  std::string_view text_of(std::uint32_t node) const { return text(of(node)); }

  // The same for the same text.
  HeapName make(std::string_view text) { return first_made_ + made_.intern(text).value; }

 private:
  void rename_detached_nodes();

  const HeapGraph& graph_;
  HeapName first_made_;
  StringTable made_;
  FlatMap<std::uint64_t, HeapName> renamed_;  // by node
};

}  // namespace nodescope
