#include "binary/code_point.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace nodescope {

namespace {

std::optional<std::uint64_t> punycode_digit(char c) {
  if (c >= 'a' && c <= 'z') return c - 'a';
  if (c >= '0' && c <= '9') return c - '0' + 26;
  return std::nullopt;
}

// A number in digits of varying weight, taken off the begin of `text`.
std::optional<std::uint64_t> take_delta(std::string_view& text, std::uint64_t bias) {
  std::uint64_t delta = 0;
  std::uint64_t weight = 1;
  for (std::uint64_t k = 36; !text.empty(); k += 36) {
    const auto digit = punycode_digit(text.front());
    if (!digit) return std::nullopt;
    text.remove_prefix(1);
    const std::uint64_t threshold = k <= bias ? 1 : std::min<std::uint64_t>(k - bias, 26);
    delta += *digit * weight;
    if (*digit < threshold) return delta;
    weight *= 36 - threshold;
    // Code points are below 2^21 and names below 2^12 characters: a larger delta is no name.
    if (delta >> 33 != 0 || weight >> 33 != 0) return std::nullopt;
  }
  return std::nullopt;
}

// The bias for the next number: RFC 3492, 6.1.
std::uint64_t adapt(std::uint64_t delta, std::uint64_t length, bool first) {
  delta /= first ? 700 : 2;
  delta += delta / length;
  std::uint64_t bias = 0;
  for (; delta > 455; bias += 36) delta /= 35;
  return bias + 36 * delta / (delta + 38);
}

}  // namespace

void append_utf8(std::string& out, std::uint32_t c) {
  const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6);
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3F));
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

std::optional<std::string> decode_punycode(std::string_view text) {
  std::vector<std::uint32_t> points;
  const std::size_t separator = text.rfind('_');
  std::string_view deltas = text;
  if (separator != std::string_view::npos) {
    for (const char c : text.substr(0, separator)) points.push_back(static_cast<unsigned char>(c));
    deltas.remove_prefix(separator + 1);
  }
  if (deltas.empty()) return std::nullopt;
  std::uint64_t code_point = 0x80;
  std::uint64_t position = 0;
  std::uint64_t bias = 72;
  for (bool first = true; !deltas.empty(); first = false) {
    const auto delta = take_delta(deltas, bias);
    if (!delta) return std::nullopt;
    const std::uint64_t length = points.size() + 1;
    position += *delta;
    code_point += position / length;
    position %= length;
    if (!is_scalar_value(code_point)) return std::nullopt;
    points.insert(points.begin() + static_cast<std::ptrdiff_t>(position),
                  static_cast<std::uint32_t>(code_point));
    ++position;
    bias = adapt(*delta, length, first);
  }
  std::string out;
  for (const std::uint32_t point : points) append_utf8(out, point);
  return out;
}

}  // namespace nodescope
