#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nodescope {

inline constexpr std::string_view kFileScheme = "file://";

// Where the name of a source can be a file: "/app/a.js", "file:///app/a.js".  Others are "node:fs",
// "wasm://…".
std::optional<std::string> path_of_source(std::string_view name);

// The path of an address, "a%20b.js"; nothing if it cannot be one of a file.
std::optional<std::string> decode_path(std::string_view text);

// "/app/" of "/app/a.js"; empty where there is no slash.
std::string_view folder_of_source(std::string_view name);

bool ends_like_javascript(std::string_view name);  // or TypeScript
// Like the above, or like another language that is compiled to JavaScript.
bool ends_like_original(std::string_view name);

}  // namespace nodescope
