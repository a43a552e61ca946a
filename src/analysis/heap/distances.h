#pragma once

#include <cstdint>

#include "analysis/heap/ephemerons.h"
#include "analysis/heap/heap_names.h"
#include "model/heap_graph.h"

namespace nodescope {

constexpr std::int32_t kNoDistance = -5;  // not reached at all
// What only V8 itself reaches counts from here on.
constexpr std::int32_t kSystemDistance = 100'000'000;

// Steps from the program's own roots to every node, over all edges but weak ones, and then from the root of
// all (HeapSnapshot.calculateDistances of DevTools).
Column<std::int32_t> derive_distances(const HeapGraph& graph, const HeapNames& names,
                                      const EphemeronNames& ephemerons);

}  // namespace nodescope
