#pragma once

#include <optional>

#include "binary/address.h"
#include "binary/eh_frame.h"
#include "binary/eh_frame_entry.h"

namespace nodescope {

// Runs the call frame instructions of a function up to `pc`.  Nothing where they are broken or use what we do
// not know.
std::optional<UnwindRow> interpret_eh_frame(const EhFrameSection& section, const EhFrameFunction& function,
                                            FileAddress pc);

}  // namespace nodescope
