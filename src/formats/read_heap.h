#pragma once

#include <memory>

#include "base/byte_source.h"
#include "base/result.h"
#include "formats/format.h"
#include "model/heap_graph.h"

namespace nodescope {

// Undoes gzip and zstd and reads a heap snapshot.
Result<HeapGraph> read_heap(std::unique_ptr<ByteSource> source, const ReadOptions& options);

}  // namespace nodescope
