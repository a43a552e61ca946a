#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/progress.h"
#include "v8/async_layout.h"
#include "v8/heap.h"
#include "v8/heap_objects.h"

namespace nodescope::v8 {

// The promises and async functions of a heap.
struct AsyncObjects {
  std::vector<TaggedWord> generators;
  std::vector<TaggedWord> promises;
};

// What lives in an isolate.
void add_live_async_objects(const HeapObjects& live, const AsyncLayout& layout, AsyncObjects& objects);

// What looks like one in an image, where it is not known what lives.  Among them are objects that nothing
// refers to any more, and words that only look like one: whoever loads them finds that out.
AsyncObjects find_async_objects(const HeapImage& image, const Layout& layout, const AsyncLayout& async,
                                Progress& progress);

}  // namespace nodescope::v8
