#pragma once

#include <optional>

#include "base/pattern.h"
#include "page/query.h"

namespace nodescope::page {

// search=: a regular expression over labels, whatever the case of letters; none where it is missing or empty.
inline Result<std::optional<Pattern>> parse_search(const Query& query, std::string_view key = "search") {
  if (query.text(key).empty()) return std::nullopt;
  auto pattern = Pattern::parse(query.text(key), true);
  if (!pattern) return std::unexpected(pattern.error());
  return std::optional(std::move(*pattern));
}

}  // namespace nodescope::page
