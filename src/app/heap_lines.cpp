#include "app/heap_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"

namespace nodescope {

namespace {

constexpr std::size_t kShortestName = 20;

}  // namespace

std::string fitted(std::string_view name, const HeapReportOptions& options, std::size_t used) {
  std::string shown = printable(name);
  if (options.columns == 0) return shown;
  const std::size_t room = std::max(kShortestName, options.columns > used ? options.columns - used : 0);
  return shown.size() <= room ? shown : to_valid_utf8(shown.substr(0, room - 3)) + "...";
}

std::size_t shown_count(std::size_t rows, const HeapReportOptions& options) {
  return options.top == 0 ? rows : std::min(options.top, rows);
}

void append_rest(std::size_t rows, std::size_t shown, std::string& text) {
  if (shown < rows)
    fmt::format_to(std::back_inserter(text), "({} more; --top 0 shows all)\n", with_thousands(rows - shown));
}

}  // namespace nodescope
