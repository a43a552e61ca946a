#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "v8/heap.h"
#include "v8/scripts.h"

namespace nodescope::v8 {

// Whether a property with this key is where V8 keeps the stack of an Error.
bool is_stack_symbol(Heap& heap, TaggedWord key);

// The stack of an Error.  V8 keeps the frames when the error is made and makes the text when it is first
// asked for; where the program has not asked, it is made here: a line for each frame, without what
// prepareStackTrace of the program would do.  Nothing when there is none.
std::optional<std::string> error_stack(Heap& heap, Scripts& scripts, TaggedWord error,
                                       std::string_view class_name, std::string_view message);

}  // namespace nodescope::v8
