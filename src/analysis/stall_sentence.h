#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/stalls.h"

namespace nodescope {

// What holds for every stall of the function and thread that were blocked longest; `stalls` are ordered by
// time.  Estimates are told as what may have been.
std::string stall_sentence(const Profile& profile, const std::vector<Stall>& stalls,
                           std::optional<double> busy_percent);

// "(loop busy 95 %)"; empty where that is not known.
std::string busy_text(std::optional<double> busy_percent);

}  // namespace nodescope
