#pragma once

#include <vector>

#include "base/result.h"
#include "formats/heapsnapshot/text_window.h"
#include "model/heap_graph.h"

namespace nodescope {

// Reads [id, function, count, size, [children…], id, …], nested however deep.
Result<std::vector<HeapTraceNode>> read_trace_tree(TextWindow& window);

}  // namespace nodescope
