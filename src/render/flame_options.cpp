#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/text.h"
#include "render/flame_style.h"
#include "render/flame_svg.h"

namespace nodescope {

namespace {

bool is_flat_colour(std::string_view text) {
  return text.size() == 7 && parse_colour(text).has_value();
}

bool is_in(double value, double least, double most) {
  return value >= least && value <= most;
}

std::string to_lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

}  // namespace

std::optional<MinWidth> parse_min_width(std::string_view text) {
  MinWidth width;
  width.percent = text.ends_with('%');
  if (width.percent) text.remove_suffix(1);
  if (text.empty() || text.find_first_not_of("0123456789.") != std::string_view::npos) return std::nullopt;
  const std::string number(text);
  char* end = nullptr;
  width.value = std::strtod(number.c_str(), &end);
  if (*end != '\0' || !is_in(width.value, 0, 1e6)) return std::nullopt;
  return width;
}

Result<void> check_flame_options(const FlameOptions& options) {
  const auto refuse = [](std::string message) { return fail(ErrorCode::kUsage, std::move(message)); };
  if (options.width < 100 || options.width > 100'000) return refuse("--width must be 100 to 100000 pixels");
  if (options.row_height < 4 || options.row_height > 1'000)
    return refuse("--height must be 4 to 1000 pixels");
  if (!is_in(options.font_size, 2, 500)) return refuse("--fontsize must be 2 to 500 pixels");
  if (!is_in(options.font_width, 0.05, 5)) return refuse("--fontwidth must be 0.05 to 5");
  if (!is_in(options.min_width.value, 0, 1e6)) return refuse("--minwidth must be 0 or more");
  if (!is_in(options.factor, 1e-300, 1e300)) return refuse("--factor must be more than 0");
  if (options.total && !is_in(*options.total, 0, 1e300)) return refuse("--total must be 0 or more");
  if (!options.background.empty() && find_gradient(options.background) == nullptr &&
      !is_flat_colour(options.background)) {
    return refuse(fmt::format("--bgcolors \"{}\" is not known: yellow, blue, green, grey or #rrggbb",
                              printable(options.background)));
  }
  if (!parse_colour(options.search_colour)) {
    return refuse(fmt::format("the search colour \"{}\" is not like #e600e6 or rgb(230,0,230)",
                              printable(options.search_colour)));
  }
  const std::string encoding = to_lower(options.encoding);
  if (!encoding.empty() && encoding != "utf-8" && encoding != "utf8") {
    return refuse(fmt::format("--encoding \"{}\": an SVG is written in UTF-8", printable(options.encoding)));
  }
  return {};
}

std::uint64_t min_total(const FlameOptions& options, std::uint64_t total) {
  const double whole = std::max(static_cast<double>(total), options.total.value_or(0));
  const double smallest = options.min_width.percent
                              ? whole * options.min_width.value / 100
                              : options.min_width.value / ((options.width - 20) / whole);
  return static_cast<std::uint64_t>(std::ceil(std::min(smallest, 1e19)));
}

}  // namespace nodescope
