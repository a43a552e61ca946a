#pragma once

#include <string>
#include <vector>

#include "analysis/stalls.h"

namespace nodescope {

// What holds for every stall of the function and thread that were blocked longest; `stalls` are ordered by
// time.
std::string stall_sentence(const Profile& profile, const std::vector<Stall>& stalls);

}  // namespace nodescope
