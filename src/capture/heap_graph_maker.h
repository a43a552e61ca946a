#pragma once

#include "base/result.h"
#include "model/heap_graph.h"
#include "v8/heap_image.h"
#include "v8/heap_objects.h"
#include "v8/heap_roots.h"
#include "v8/layout.h"

namespace nodescope {

struct HeapGraphOptions {
  bool redact = false;  // sizes and structure stay, what strings say is left out
};

// The objects of one isolate as V8's own snapshot would show them: the same types and names of nodes and
// edges, the same objects left out.  `image` is what `objects` were marked in: of a copy of a process that
// runs, or of a core.  What does not belong together is counted in the graph's diagnostics.
Result<HeapGraph> make_heap_graph(v8::HeapImage& image, const v8::Layout& layout,
                                  const v8::HeapObjects& objects, const v8::Isolate& isolate,
                                  const HeapGraphOptions& options);

}  // namespace nodescope
