#pragma once

#include <string_view>

namespace nodescope {

// Memory that no file is behind, where a runtime puts the code that it generates.
bool is_generated_code_path(std::string_view path);

// ".../jit-PID.dump".
bool is_jitdump_path(std::string_view path);

}  // namespace nodescope
