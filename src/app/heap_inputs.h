#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/byte_source.h"
#include "base/result.h"
#include "model/heap_graph.h"
#include "page/heap/session.h"

namespace nodescope {

// Reads a heap snapshot, compressed or not, then tells on standard error what was lost or doubtful.
Result<HeapGraph> read_heap_input(const std::string& path);
Result<HeapGraph> read_heap_input(std::unique_ptr<ByteSource> source);

// Snapshots of one process, the oldest first.  The newest is read first: its shapes of plain objects name
// those of all.  Of the others only what is compared stays.
Result<page::HeapSnapshots> read_heap_snapshots(const std::vector<std::string>& paths);

// Whether a file that can be opened twice holds a heap snapshot.
bool is_heap_input(const std::string& path);

}  // namespace nodescope
