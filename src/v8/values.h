#pragma once

#include <string>

#include "v8/heap.h"

namespace nodescope::v8 {

// A value as a person would write it, on one line and short: strings and lists are cut, the properties of an
// object are shown but not those of the objects in it, and no getter is called.  Whatever the memory holds,
// the work is bounded.  "?" where there is no value.
std::string describe_value(Heap& heap, TaggedWord value);

}  // namespace nodescope::v8
