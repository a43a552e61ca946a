#pragma once

#include <optional>

#include "binary/address.h"
#include "binary/elf_file.h"

namespace nodescope {

// Where a node binary (or libnode.so) has V8's embedded builtins: machine code that keeps frame pointers and
// has no .eh_frame.  By its symbols where there are any; in a stripped binary the gap of .eh_frame_hdr that
// holds V8 code. Nothing when this binary has none.
//
// node >= 20 maps this part of the file a second time, into V8's code range: compare by FileOffset
// (to_offset), not by the address in the process.
std::optional<Range<FileAddress>> find_embedded_builtins(const ElfFile& binary);

}  // namespace nodescope
