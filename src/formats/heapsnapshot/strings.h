#pragma once

#include "base/result.h"
#include "formats/heapsnapshot/text_window.h"
#include "model/heap_graph.h"

namespace nodescope {

// Reads the array of texts to the bracket behind it.  Where the file ends before, `complete` is false and the
// texts before are there.
struct StringsRead {
  bool complete = false;
  std::uint64_t damaged = 0;  // texts with an escape that JSON does not have
};
Result<StringsRead> read_strings(TextWindow& window, HeapStrings& strings);

}  // namespace nodescope
