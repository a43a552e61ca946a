#pragma once

#include "binary/elf_file.h"
#include "v8/async_layout.h"

namespace nodescope::v8 {

// What only the machine code of V8's builtins and their table tell: the numbers of those that resolve the
// elements of combinators of promises, and where the microtask that runs is kept.  Facts stay absent in a
// binary without the symbols of its builtins, and where something is not as expected.
void find_builtin_facts(const ElfFile& file, AsyncLayout& layout);

}  // namespace nodescope::v8
