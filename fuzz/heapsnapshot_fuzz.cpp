#include <cstdint>

#include "base/check.h"
#include "formats/heapsnapshot/heapsnapshot.h"

using namespace nodescope;

// What can be read must have every number in range and be the same after writing and reading.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  MemorySource source(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
  const auto graph = read_heap_snapshot(source, {});
  if (!graph) {
    NODESCOPE_CHECK(!graph.error().message.empty());
    return 0;
  }
  NODESCOPE_CHECK(graph->edge_begins.size() == graph->node_count() + 1);
  NODESCOPE_CHECK(graph->edge_begins.back() == graph->edge_count());
  for (const std::uint32_t to : graph->edge_targets) NODESCOPE_CHECK(to < graph->node_count());
  for (std::size_t i = 0; i < graph->node_count(); ++i)
    NODESCOPE_CHECK(graph->type_index(i) < graph->node_type_names.size());
  for (const HeapLocation& location : graph->locations) NODESCOPE_CHECK(location.node < graph->node_count());
  for (std::size_t i = 1; i < graph->trace_tree.size(); ++i) NODESCOPE_CHECK(graph->trace_tree[i].caller < i);
  StringSink sink;
  NODESCOPE_CHECK(write_heap_snapshot(*graph, sink).has_value());
  MemorySource written(sink.text(), "written");
  const auto again = read_heap_snapshot(written, {});
  NODESCOPE_CHECK(again.has_value());
  NODESCOPE_CHECK(again->node_count() == graph->node_count() && again->edge_count() == graph->edge_count());
  return 0;
}
