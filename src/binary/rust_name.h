#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nodescope {

// "_ZN…17h<16 hexadecimal digits>E", rustc before 1.92; nothing for a C++ name.
std::optional<std::string> demangle_rust_legacy(std::string_view name);

// "_R…" (RFC 2603).  `name` has at most kMaxMangledBytes.
std::optional<std::string> demangle_rust_v0(std::string_view name);

}  // namespace nodescope
