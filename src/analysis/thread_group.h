#pragma once

#include <string>

#include "analysis/function_table.h"
#include "model/profile.h"

namespace nodescope {

// The row of a thread in a table by process or thread: "node 4711".
std::string thread_group(const Profile& profile, ThreadId id, GroupBy group);

}  // namespace nodescope
