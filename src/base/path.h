#pragma once

#include <algorithm>
#include <string_view>

namespace nodescope {

// What follows the last slash.
constexpr std::string_view file_name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// What precedes the last slash: "." and "/" where that is nothing.
constexpr std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return path.substr(0, std::max<std::size_t>(slash, 1));
}

}  // namespace nodescope
