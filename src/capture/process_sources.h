#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"

namespace nodescope {

// A source file as processes have it, each below its own root folder.  kNotFound if none has it; kUnsupported
// if two containers have different ones, because a profile does not tell whose frame is whose.  One that was
// changed after its process began is noted: lines may be those of another text.
Result<std::string> read_source_of(const std::vector<pid_t>& pids, const std::string& path,
                                   std::uint64_t limit, Diagnostics& diagnostics);

}  // namespace nodescope
