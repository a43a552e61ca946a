#include "json/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>

#include "base/text.h"

namespace nodescope::json {

namespace {

constexpr std::size_t kBlockBytes = 64 * 1024;

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x7F && c != '"' && c != '\\';
}

void append_escape(std::string& to, char c) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  switch (c) {
    case '"':
    case '\\':
      to += '\\';
      to += c;
      return;
    case '\n':
      to += "\\n";
      return;
    case '\t':
      to += "\\t";
      return;
    case '\r':
      to += "\\r";
      return;
    default:
      to += "\\u00";
      to += kHex[byte >> 4];
      to += kHex[byte & 15];
  }
}

// A control character beyond ASCII or a mark of direction that valid UTF-8 begins with; empty: something
// else. JSON allows them, and a terminal that shows the text would act on them.
std::string_view leading_hidden(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto is_within = [](unsigned value, unsigned first, unsigned last) {
    return value >= first && value <= last;
  };
  const unsigned second = byte(1);
  const unsigned third = byte(2);
  const bool is_c1 = byte(0) == 0xC2 && is_within(second, 0x80, 0x9F);
  const bool is_arabic_mark = byte(0) == 0xD8 && second == 0x9C;             // U+061C
  const bool is_mark = second == 0x80 && is_within(third, 0x8E, 0x8F);       // U+200E, U+200F
  const bool is_line_end = second == 0x80 && is_within(third, 0xA8, 0xA9);   // U+2028, U+2029
  const bool is_embedding = second == 0x80 && is_within(third, 0xAA, 0xAE);  // U+202A to U+202E
  const bool is_isolate = second == 0x81 && is_within(third, 0xA6, 0xA9);    // U+2066 to U+2069
  if (is_c1 || is_arabic_mark) return text.substr(0, 2);
  const bool is_hidden = is_mark || is_line_end || is_embedding || is_isolate;
  return byte(0) == 0xE2 && is_hidden ? text.substr(0, 3) : std::string_view();
}

// "\u202e" for the two or three bytes of one.
void append_code_point(std::string& to, std::string_view bytes) {
  std::uint32_t code_point = static_cast<unsigned char>(bytes[0]) & (bytes.size() == 2 ? 0x1Fu : 0x0Fu);
  for (const char c : bytes.substr(1)) code_point = code_point << 6 | (static_cast<unsigned char>(c) & 0x3Fu);
  fmt::format_to(std::back_inserter(to), "\\u{:04x}", code_point);
}

template <typename Integer>
void append_number(std::string& to, Integer value) {
  std::array<char, 24> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  to.append(digits.data(), end);
}

}  // namespace

Writer::Writer(ByteSink& sink) : sink_(sink) {
  block_.reserve(kBlockBytes + 1024);
}

Writer& Writer::open(char bracket) {
  separate();
  block_ += bracket;
  comma_ = false;
  return *this;
}

Writer& Writer::close(char bracket) {
  block_ += bracket;
  end_value();
  return *this;
}

Writer& Writer::word(std::string_view text) {
  separate();
  block_ += text;
  end_value();
  return *this;
}

Writer& Writer::key(std::string_view name) {
  separate();
  block_ += '"';
  block_ += name;
  block_ += "\":";
  comma_ = false;
  return *this;
}

Writer& Writer::untrusted_key(std::string_view name) {
  string(name);
  block_ += ':';
  comma_ = false;
  return *this;
}

Writer& Writer::string(std::string_view text) {
  separate();
  block_ += '"';
  if (std::ranges::all_of(text, is_plain)) {
    block_ += text;
  } else {
    escape(is_valid_utf8(text) ? text : std::string_view(to_valid_utf8(text)));
  }
  block_ += '"';
  end_value();
  return *this;
}

Writer& Writer::integer(std::int64_t value) {
  separate();
  append_number(block_, value);
  end_value();
  return *this;
}

Writer& Writer::count(std::uint64_t value) {
  separate();
  append_number(block_, value);
  end_value();
  return *this;
}

Writer& Writer::decimal(std::int64_t value, unsigned decimals) {
  separate();
  std::uint64_t size = static_cast<std::uint64_t>(value);
  if (value < 0) {
    size = 0 - size;
    block_ += '-';
  }
  while (decimals > 0 && size % 10 == 0) {
    size /= 10;
    --decimals;
  }
  std::string digits;
  append_number(digits, size);
  if (decimals > 0) {
    if (digits.size() <= decimals) digits.insert(0, decimals + 1 - digits.size(), '0');
    digits.insert(digits.size() - decimals, 1, '.');
  }
  block_ += digits;
  end_value();
  return *this;
}

Writer& Writer::number(double value) {
  if (!std::isfinite(value)) return null();
  separate();
  fmt::format_to(std::back_inserter(block_), "{}", value);
  end_value();
  return *this;
}

Writer& Writer::line() {
  if (comma_) block_ += ',';
  comma_ = false;
  block_ += '\n';
  return *this;
}

Result<void> Writer::finish() {
  block_ += '\n';
  flush();
  return result_;
}

void Writer::separate() {
  if (comma_) block_ += ',';
}

void Writer::end_value() {
  comma_ = true;
  if (block_.size() >= kBlockBytes) flush();
}

void Writer::escape(std::string_view text) {
  while (!text.empty()) {
    const char c = text.front();
    const std::string_view hidden = leading_hidden(text);
    if (!hidden.empty()) {
      append_code_point(block_, hidden);
    } else if (is_plain(c) || static_cast<unsigned char>(c) >= 0x80) {
      block_ += c;
    } else {
      append_escape(block_, c);
    }
    text.remove_prefix(std::max<std::size_t>(hidden.size(), 1));
  }
}

void Writer::flush() {
  if (result_) result_ = sink_.write(block_);
  block_.clear();
}

}  // namespace nodescope::json
