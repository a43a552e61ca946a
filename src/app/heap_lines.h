#pragma once

// What the texts of `nodescope heap` have in common.

#include <cstddef>
#include <string>
#include <string_view>

#include "app/heap_report.h"

namespace nodescope {

// Without a terminal's width.
constexpr std::size_t kLongestText = 60;

// `name` for a line that has `used` columns already.
std::string fitted(std::string_view name, const HeapReportOptions& options, std::size_t used);

std::size_t shown_count(std::size_t rows, const HeapReportOptions& options);

// "(12 more; --top 0 shows all)"
void append_rest(std::size_t rows, std::size_t shown, std::string& text);

}  // namespace nodescope
