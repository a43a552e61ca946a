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
  for (const char c : text) {
    if (is_plain(c) || static_cast<unsigned char>(c) >= 0x80) {
      block_ += c;
    } else {
      append_escape(block_, c);
    }
  }
}

void Writer::flush() {
  if (result_) result_ = sink_.write(block_);
  block_.clear();
}

}  // namespace nodescope::json
