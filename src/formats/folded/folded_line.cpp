#include "formats/folded/folded_line.h"

#include <algorithm>
#include <limits>

#include "base/text.h"

namespace nodescope {

namespace {

constexpr std::string_view kBlanks = " \t";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The nearest whole number to "WHOLE.FRACTION".
bool rounds_up(std::string_view fraction) {
  return !fraction.empty() && fraction[0] >= '5';
}

// The first three digits behind the point, rounded: up to 1,000.
std::uint64_t thousandths_of(std::string_view fraction) {
  std::uint64_t digits = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    digits = digits * 10 + (i < fraction.size() ? static_cast<std::uint64_t>(fraction[i] - '0') : 0);
  }
  return digits + (fraction.size() > 3 && rounds_up(fraction.substr(3)) ? 1 : 0);
}

}  // namespace

std::optional<FoldedCount> take_folded_count(std::string_view text) {
  std::size_t begin = text.size();
  while (begin != 0 && (is_digit(text[begin - 1]) || text[begin - 1] == '.')) --begin;
  const bool has_blank = begin != 0 && kBlanks.find(text[begin - 1]) != std::string_view::npos;
  if (begin == text.size() || !is_digit(text[begin]) || !has_blank) return std::nullopt;
  const std::string_view number = text.substr(begin);
  const std::size_t point = std::min(number.find('.'), number.size());
  const std::string_view fraction = number.substr(std::min(point + 1, number.size()));
  if (!std::ranges::all_of(fraction, is_digit)) return std::nullopt;

  FoldedCount count;
  count.rest = trim_folded_line(text.substr(0, begin));
  count.is_rounded = fraction.find_first_not_of('0') != std::string_view::npos;
  const auto whole = parse_number<std::uint64_t>(number.substr(0, point));
  count.is_clipped = !whole;
  count.value = whole.value_or(std::numeric_limits<std::uint64_t>::max());
  if (__builtin_mul_overflow(count.value, kThousand, &count.thousandths) ||
      __builtin_add_overflow(count.thousandths, thousandths_of(fraction), &count.thousandths)) {
    count.thousandths = std::numeric_limits<std::uint64_t>::max();
  }
  if (rounds_up(fraction) && count.value != std::numeric_limits<std::uint64_t>::max()) ++count.value;
  return count;
}

std::string_view trim_folded_line(std::string_view line) {
  return line.substr(0, line.find_last_not_of(" \t\r") + 1);
}

bool is_blank_or_comment(std::string_view line) {
  if (trim_folded_line(line).empty()) return true;
  return line[0] == '#' &&
         (line.size() == 1 || std::string_view(" !\t\r").find(line[1]) != std::string_view::npos);
}

}  // namespace nodescope
