#pragma once

#include <string_view>

#include "base/byte_sink.h"
#include "base/byte_source.h"
#include "base/result.h"
#include "formats/format.h"
#include "model/heap_graph.h"

namespace nodescope {

// V8's heap snapshots (.heapsnapshot, .heaptimeline) of every version, by what the file says of its own
// layout: source and prose of the format are V8's src/profiler/heap-snapshot-generator.cc and DevTools'
// HeapSnapshotLoader.ts.

// By the first bytes of a file.
bool is_heap_snapshot(std::string_view head);

// `options.threads` parse; their number does not change the result.  A file that ends within its texts gives
// a graph with the names that were there, and an error in its diagnostics: sizes do not depend on names. What
// ends earlier, contradicts itself or refers beyond its end is an Error.
Result<HeapGraph> read_heap_snapshot(ByteSource& source, const ReadOptions& options);

// As Node 16 to 23 lay it out, which every reader takes.
Result<void> write_heap_snapshot(const HeapGraph& graph, ByteSink& sink);

}  // namespace nodescope
