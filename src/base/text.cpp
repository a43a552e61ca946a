#include "base/text.h"

#include <fmt/format.h>

#include <array>

namespace nodescope {

namespace {

struct Decoded {
  std::size_t length = 0;  // 0: not valid here
  std::uint32_t code_point = 0;
};

Decoded decode_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return {1, first};
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return {};
  std::uint32_t code_point = first & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code_point = code_point << 6 | (byte(i) & 0x3Fu);
  }
  constexpr std::array<std::uint32_t, 5> kSmallest = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
  if (code_point < kSmallest[length] || code_point > 0x10FFFF || surrogate) return {};
  return {length, code_point};
}

bool is_bidirectional_control(std::uint32_t c) {
  return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

}  // namespace

bool is_valid_utf8(std::string_view text) {
  while (!text.empty()) {
    const Decoded decoded = decode_utf8(text);
    if (decoded.length == 0) return false;
    text.remove_prefix(decoded.length);
  }
  return true;
}

std::string to_valid_utf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const Decoded decoded = decode_utf8(text);
    if (decoded.length == 0) {
      valid += "\xEF\xBF\xBD";
      text.remove_prefix(1);
    } else {
      valid += text.substr(0, decoded.length);
      text.remove_prefix(decoded.length);
    }
  }
  return valid;
}

std::string printable(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const Decoded decoded = decode_utf8(text);
    const std::size_t length = decoded.length == 0 ? 1 : decoded.length;
    const bool control =
        decoded.code_point < 0x20 || (decoded.code_point >= 0x7F && decoded.code_point < 0xA0);
    if (decoded.length == 0 || control) {
      for (const char c : text.substr(0, length))
        shown += fmt::format("\\x{:02x}", static_cast<std::uint8_t>(c));
    } else if (is_bidirectional_control(decoded.code_point)) {
      shown += fmt::format("\\u{{{:04x}}}", decoded.code_point);
    } else {
      shown += text.substr(0, length);
    }
    text.remove_prefix(length);
  }
  return shown;
}

std::string with_thousands(std::uint64_t value) {
  std::string digits = fmt::format("{}", value);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return digits;
}

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> kUnits = {"KB", "MB", "GB", "TB", "PB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string human_duration_ns(std::uint64_t nanoseconds) {
  const auto value = static_cast<double>(nanoseconds);
  if (nanoseconds < 1'000) return fmt::format("{} ns", nanoseconds);
  if (nanoseconds < 1'000'000) return fmt::format("{:.1f} us", value / 1e3);
  if (nanoseconds < 1'000'000'000) return fmt::format("{:.1f} ms", value / 1e6);
  return fmt::format("{:.2f} s", value / 1e9);
}

std::optional<std::string> decode_query_value(std::string_view text) {
  constexpr std::size_t kEscape = 3;
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i] == '+' ? ' ' : text[i];
      continue;
    }
    const auto code = parse_number<std::uint8_t>(text.substr(i + 1, kEscape - 1), 16);
    if (i + kEscape > text.size() || !code) return std::nullopt;
    decoded += static_cast<char>(*code);
    i += kEscape - 1;
  }
  return decoded;
}

}  // namespace nodescope
