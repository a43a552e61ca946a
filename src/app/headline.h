#pragma once

#include <string>

#include "model/profile.h"

namespace nodescope {

// The verdict on a whole recording (analysis/verdict.h), the same sentence as on the page.
std::string headline(const Profile& profile);

}  // namespace nodescope
