#pragma once

#include <string>

#include "analysis/selection.h"
#include "model/profile.h"

namespace nodescope {

// The verdict on a whole recording (analysis/verdict.h), the same sentence as on the page.
std::string headline(const Profile& profile);

// The same of a profile with one sample for many (see RecordingSums), without its stalls.
std::string headline_of_sums(const Profile& profile, const Accounting& accounting);

}  // namespace nodescope
