#include "analysis/heap/allocation_sites.h"

#include <algorithm>
#include <functional>
#include <tuple>

#include "base/flat_map.h"

namespace nodescope {

std::vector<AllocationSite> derive_allocation_sites(const HeapAnalysis& heap) {
  const HeapGraph& graph = heap.graph();
  std::vector<AllocationSite> sites(graph.trace_functions.size());
  FlatMap<std::uint32_t, std::uint32_t> function_of_trace;
  for (const HeapTraceNode& trace : graph.trace_tree) {
    if (trace.function >= sites.size()) continue;
    function_of_trace.emplace(trace.id, trace.function);
    sites[trace.function].count += trace.count;
    sites[trace.function].bytes += trace.bytes;
  }
  for (std::size_t node = 0; node < graph.trace_nodes.size(); ++node) {
    const auto function = function_of_trace.find(graph.trace_nodes[node]);
    if (function == function_of_trace.end()) continue;
    ++sites[function->second].live_count;
    sites[function->second].live_bytes += graph.self_sizes[node];
  }
  for (std::uint32_t i = 0; i < sites.size(); ++i) sites[i].function = i;
  std::erase_if(sites, [](const AllocationSite& site) { return site.count == 0 && site.live_count == 0; });
  std::ranges::stable_sort(sites, std::greater<>(), [](const AllocationSite& site) {
    return std::tuple(site.live_bytes, site.bytes);
  });
  return sites;
}

}  // namespace nodescope
