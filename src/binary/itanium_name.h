#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nodescope {

// A C++ name ("_Z…") in the spelling of GNU's demangler, which perf uses.  `name` has at most
// kMaxMangledBytes.
std::optional<std::string> demangle_itanium(std::string_view name);

}  // namespace nodescope
