#pragma once

namespace nodescope {

// The project's version, from CMakeLists.txt.
inline constexpr const char* kVersion = NODESCOPE_VERSION;

}  // namespace nodescope
