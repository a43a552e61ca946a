#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

namespace nodescope {

// The paths of the regular files below `folder`, sorted.  Links are not followed, folders that may not be
// read are passed over; of more than `limit` entries the others are left out.
Result<std::vector<std::string>> list_files_below(const std::string& folder, std::size_t limit);

}  // namespace nodescope
