#include <array>

#include "formats/format.h"

namespace nodescope {

std::span<const Format* const> all_formats() { return {}; }

const Format* find_format(std::string_view name) {
  for (const Format* format : all_formats()) {
    if (format->name == name) return format;
  }
  return nullptr;
}

const Format* format_of_path(std::string_view path) {
  const Format* best = nullptr;
  for (const Format* format : all_formats()) {
    if (format->write == nullptr || format->extension.empty() || !path.ends_with(format->extension)) continue;
    if (best == nullptr || format->extension.size() > best->extension.size()) best = format;
  }
  return best;
}

}  // namespace nodescope
