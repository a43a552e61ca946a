#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "json/writer.h"
#include "model/heap_graph.h"

namespace nodescope {

// A .heapsnapshot that was written.
struct HeapFile {
  pid_t tid = 0;
  std::string name;  // of the thread
  std::string file;
  std::uint64_t bytes = 0;  // of V8's heap
  std::size_t nodes = 0;
  std::size_t edges = 0;
};

// Only its owner may read it: it holds every string of the process, passwords too.
Result<HeapFile> write_heap_file(const HeapGraph& graph, pid_t tid, std::string thread_name,
                                 const std::string& path);

// A line for each.
std::string heap_files_text(std::span<const HeapFile> files);
// As "nodes", "edges" and "isolates" of the object that is being written.
void write_heap_files(json::Writer& json, std::span<const HeapFile> files);

}  // namespace nodescope
