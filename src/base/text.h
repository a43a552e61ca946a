#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace nodescope {

// The whole of `text` as a number, or nothing.  `base` is for integers.
template <typename Number>
std::optional<Number> parse_number(std::string_view text, int base = 10) {
  Number value{};
  std::from_chars_result result{};
  if constexpr (std::is_floating_point_v<Number>) {
    result = std::from_chars(text.data(), text.data() + text.size(), value);
  } else {
    result = std::from_chars(text.data(), text.data() + text.size(), value, base);
  }
  if (result.ec != std::errc{} || result.ptr != text.data() + text.size() || text.empty())
    return std::nullopt;
  return value;
}

inline std::optional<std::uint64_t> parse_hex(std::string_view text) {
  return parse_number<std::uint64_t>(text, 16);
}

bool is_valid_utf8(std::string_view text);

// `text` with every byte that is not part of valid UTF-8 replaced by U+FFFD.
std::string to_valid_utf8(std::string_view text);

// Text that a terminal shows without acting on it: control and bidirectional characters become \xNN,
// \u{NNNN}.
std::string printable(std::string_view text);

// 1234567 -> "1,234,567".
std::string with_thousands(std::uint64_t value);

// 1536 -> "1.5 KB", 1500000000 ns -> "1.50 s".  The unit is part of the number.
std::string human_bytes(std::uint64_t bytes);
std::string human_duration_ns(std::uint64_t nanoseconds);

// A value in the query of an address: "a%2Fb+c" -> "a/b c"; nothing if a % is not followed by two hexadecimal
// digits.
std::optional<std::string> decode_query_value(std::string_view text);

}  // namespace nodescope
