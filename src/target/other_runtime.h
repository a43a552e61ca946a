#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nodescope {

// What to say of a process that runs JavaScript and is not Node.js, by the name of its program: which runtime
// it is, and what can be seen of it.  Nothing for other programs.
std::optional<std::string> describe_other_runtime(std::string_view executable);

}  // namespace nodescope
