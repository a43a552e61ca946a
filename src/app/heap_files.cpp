#include "app/heap_files.h"

#include <fmt/format.h>

#include <utility>

#include "app/input.h"
#include "app/output.h"
#include "base/text.h"
#include "formats/heapsnapshot/heapsnapshot.h"

namespace nodescope {

Result<HeapFile> write_heap_file(const HeapGraph& graph, pid_t tid, std::string thread_name,
                                 const std::string& path) {
  HeapFile file{tid, std::move(thread_name), path, 0, graph.node_count(), graph.edge_count()};
  for (std::size_t i = 0; i < graph.node_count(); ++i) {
    if (graph.type(i) != HeapNodeType::kNative) file.bytes += graph.self_sizes[i];
  }
  print_diagnostics(graph.diagnostics, path);
  const auto done =
      write_output(path, [&](ByteSink& sink) { return write_heap_snapshot(graph, sink); }, Readers::kOwner);
  if (!done) return std::unexpected(done.error());
  return file;
}

std::string heap_files_text(std::span<const HeapFile> files) {
  std::string text;
  for (const HeapFile& file : files)
    text += fmt::format("{}: {} objects, {} references, {} alive (thread {} {})\n", printable(file.file),
                        with_thousands(file.nodes), with_thousands(file.edges), human_bytes(file.bytes),
                        file.tid, printable(file.name));
  return text;
}

void write_heap_files(json::Writer& json, std::span<const HeapFile> files) {
  std::uint64_t nodes = 0;
  std::uint64_t edges = 0;
  for (const HeapFile& file : files) {
    nodes += file.nodes;
    edges += file.edges;
  }
  json.key("nodes").count(nodes);
  json.key("edges").count(edges);
  json.key("isolates").begin_array();
  for (const HeapFile& file : files) {
    json.begin_object();
    json.key("thread").integer(file.tid);
    json.key("name").string(file.name);
    json.key("file").string(file.file);
    json.key("live_bytes").count(file.bytes);
    json.key("nodes").count(file.nodes);
    json.key("edges").count(file.edges);
    json.end_object();
  }
  json.end_array();
}

}  // namespace nodescope
