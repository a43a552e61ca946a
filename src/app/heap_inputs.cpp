#include "app/heap_inputs.h"

#include <utility>

#include "app/input.h"
#include "formats/heapsnapshot/heapsnapshot.h"
#include "formats/input.h"
#include "formats/read_heap.h"
#include "os/file.h"

namespace nodescope {

Result<HeapGraph> read_heap_input(const std::string& path) {
  auto source = open_input(path);
  if (!source) return std::unexpected(std::move(source.error()));
  return read_heap_input(std::move(*source));
}

Result<HeapGraph> read_heap_input(std::unique_ptr<ByteSource> source) {
  const ByteSource& named = *source;
  const std::string name(named.name());
  Result<HeapGraph> graph = fail(ErrorCode::kSystem, "not read");
  with_read_options(named,
                    [&](const ReadOptions& options) { graph = read_heap(std::move(source), options); });
  if (graph) print_diagnostics(graph->diagnostics, name);
  return graph;
}

Result<page::HeapSnapshots> read_heap_snapshots(const std::vector<std::string>& paths) {
  page::HeapSnapshots snapshots;
  snapshots.names = display_names(paths);
  auto newest = read_heap_input(paths.back());
  if (!newest) return std::unexpected(newest.error());
  snapshots.graph = std::make_unique<const HeapGraph>(std::move(*newest));
  snapshots.heap = std::make_unique<const HeapAnalysis>(*snapshots.graph);
  for (std::size_t i = 0; i + 1 < paths.size(); ++i) {
    const auto graph = read_heap_input(paths[i]);
    if (!graph) return std::unexpected(graph.error());
    snapshots.older.emplace_back(HeapAnalysis(*graph), snapshots.heap->interfaces());
  }
  return snapshots;
}

bool is_heap_input(const std::string& path) {
  if (path == "-") return false;
  auto source = open_file(path);
  if (!source) return false;
  const auto content = open_content(std::move(*source));
  return content && is_heap_snapshot((*content)->head());
}

}  // namespace nodescope
