#pragma once

#include <cstdint>
#include <vector>

#include "analysis/heap/heap_analysis.h"

namespace nodescope {

// What one function allocated while allocations were tracked.
struct AllocationSite {
  std::uint32_t function = 0;  // of HeapGraph::trace_functions
  std::uint64_t count = 0;     // all that it made
  std::uint64_t bytes = 0;
  std::uint64_t live_count = 0;  // of that, what is in the snapshot
  std::uint64_t live_bytes = 0;
};

// Largest live bytes first; empty for a snapshot without allocation stacks.
std::vector<AllocationSite> derive_allocation_sites(const HeapAnalysis& heap);

}  // namespace nodescope
