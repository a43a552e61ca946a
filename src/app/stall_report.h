#pragma once

#include <cstdint>
#include <string>

#include "analysis/stalls.h"
#include "base/byte_sink.h"
#include "base/result.h"

namespace nodescope {

// The sentence, then a line for each stall, longest first; `top` lines at most, all with 0.
std::string stalls_text(const Profile& profile, const StallReport& report, std::int64_t at_least_ns,
                        std::size_t top);

Result<void> write_stalls_json(const Profile& profile, const StallReport& report, std::size_t top,
                               ByteSink& sink);

}  // namespace nodescope
