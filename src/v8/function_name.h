#pragma once

#include <optional>
#include <string>

#include "v8/heap.h"
#include "v8/objects.h"

namespace nodescope::v8 {

// Who runs in a frame.  Inlined functions have neither closure nor receiver at hand.
struct Activation {
  const SharedFunctionInfo& shared;
  std::optional<TaggedWord> function;
  std::optional<TaggedWord> receiver;
  bool is_eval = false;  // code of eval() or new Function()
  // A method without a name of its own is called by the class that has it, whatever the receiver is: the same
  // in all samples.  V8's stacks name the class of the receiver.
  bool by_holder = false;
};

// The name as V8's own stack prints it: the function's, else what it was assigned to, else the receiver's
// class and the property that holds the function.  Empty when V8 knows none either.
std::string name_of(Heap& heap, const Activation& activation);

// Whether this is the only closure that was made where it was made, so that no other can have taken its
// place.
bool is_only_closure(Heap& heap, TaggedWord function);

// The class of an object, as V8 names it: "Map", "Base".  Empty when it cannot be told.
std::string class_name(Heap& heap, TaggedWord object);

}  // namespace nodescope::v8
