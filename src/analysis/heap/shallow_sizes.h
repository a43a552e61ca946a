#pragma once

#include "analysis/heap/bits.h"
#include "analysis/heap/heap_names.h"
#include "model/heap_graph.h"

namespace nodescope {

// Whether a node that the root refers to belongs to the program: what DevTools calls a user root.
bool is_user_root(const HeapGraph& graph, std::uint32_t node);
bool has_user_root(const HeapGraph& graph);

// What can be reached from the program's own roots (HeapSnapshot.markPageOwnedNodes of DevTools).
Bits find_page_owned(const HeapGraph& graph);

// The size of every node after V8's internal objects (hidden, arrays, data of external strings) gave theirs
// to the one object that owns them, if it is one (HeapSnapshot.calculateShallowSizes).
WideColumn derive_shallow_sizes(const HeapGraph& graph, const HeapNames& names);

}  // namespace nodescope
