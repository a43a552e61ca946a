#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace nodescope {

// A count at the end of a folded line.
struct FoldedCount {
  std::uint64_t value = 0;
  std::uint64_t thousandths = 0;  // the count with its fraction, rounded; clipped as `value` is
  bool is_rounded = false;        // it had a fraction
  bool is_clipped = false;        // it was larger than the largest number
  std::string_view rest;          // the line without it
};

constexpr std::uint64_t kThousand = 1000;

// The number behind the last blank of `text`: "3", "3.5".
std::optional<FoldedCount> take_folded_count(std::string_view text);

// `line` without blanks, tabs and '\r' at its end.
std::string_view trim_folded_line(std::string_view line);

// Empty lines, and comments: '#' alone or followed by a blank or '!'.  "#handler;f 3" is a stack.
bool is_blank_or_comment(std::string_view line);

}  // namespace nodescope
