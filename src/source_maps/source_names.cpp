#include "source_maps/source_names.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace nodescope {

namespace {

template <std::size_t kCount>
bool ends_with_one_of(std::string_view name, const std::array<std::string_view, kCount>& endings) {
  return std::ranges::any_of(endings, [&](std::string_view ending) { return name.ends_with(ending); });
}

}  // namespace

std::optional<std::string> path_of_source(std::string_view name) {
  if (name.starts_with('/') && !name.contains('\0')) return std::string(name);
  if (!name.starts_with(kFileScheme)) return std::nullopt;
  auto path = decode_path(name.substr(kFileScheme.size()));
  if (!path || !path->starts_with('/')) return std::nullopt;
  return path;
}

std::optional<std::string> decode_path(std::string_view text) {
  std::string escaped;
  escaped.reserve(text.size());
  // In the path of an address a + stands for itself.
  for (const char c : text) c == '+' ? escaped += "%2B" : escaped += c;
  auto path = decode_query_value(escaped);
  if (!path || path->contains('\0')) return std::nullopt;
  return path;
}

std::string_view folder_of_source(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : name.substr(0, slash + 1);
}

bool ends_like_javascript(std::string_view name) {
  return ends_with_one_of(
      name, std::to_array<std::string_view>({".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"}));
}

bool ends_like_original(std::string_view name) {
  return ends_like_javascript(name) ||
         ends_with_one_of(
             name, std::to_array<std::string_view>({".vue", ".svelte", ".astro", ".coffee", ".litcoffee"}));
}

}  // namespace nodescope
