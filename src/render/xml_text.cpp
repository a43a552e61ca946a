#include "render/xml_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text.h"

namespace nodescope {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

struct CodePoint {
  char32_t value = 0;
  std::size_t length = 0;  // 0: not UTF-8
};

// The multi-byte character that `text` begins with.
CodePoint decode(std::string_view text) {
  const auto byte_at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte_at(0);
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return {};
  char32_t value = lead & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_at(i) & 0xC0u) != 0x80u) return {};
    value = value << 6 | (byte_at(i) & 0x3Fu);
  }
  constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kLeast[length] || value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) return {};
  return {value, length};
}

bool changes_direction(char32_t c) {
  return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

bool is_unwelcome(char32_t c) {
  const bool control = c >= 0x80 && c < 0xA0;
  const bool line_break = c == 0x2028 || c == 0x2029;
  const bool non_character = (c & 0xFFFEu) == 0xFFFEu || (c >= 0xFDD0 && c <= 0xFDEF);
  return control || line_break || non_character;
}

// True for ASCII that stands for itself.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t c = 0x20; c < 0x7F; ++c) plain[c] = true;
  for (const char c : {'&', '<', '>', '"', '\''}) plain[static_cast<unsigned char>(c)] = false;
  return plain;
}();

void append_special_ascii(std::string& out, char c) {
  switch (c) {
    case '&':
      out += "&amp;";
      return;
    case '<':
      out += "&lt;";
      return;
    case '>':
      out += "&gt;";
      return;
    case '"':
      out += "&quot;";
      return;
    case '\'':
      out += "&#39;";
      return;
    default:
      break;
  }
  // U+2400 and up are pictures of the control characters; U+2421 is that of DEL.
  const unsigned picture = c == 0x7F ? 0x21u : static_cast<unsigned char>(c);
  out += "\xE2\x90";
  out += static_cast<char>(0x80u + picture);
}

std::size_t plain_prefix(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && kPlain[static_cast<unsigned char>(text[length])]) ++length;
  return length;
}

}  // namespace

void append_xml_text(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const std::size_t plain = plain_prefix(text);
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) return;
    if (static_cast<unsigned char>(text[0]) < 0x80) {
      append_special_ascii(out, text[0]);
      text.remove_prefix(1);
      continue;
    }
    const CodePoint character = decode(text);
    if (character.length == 0 || is_unwelcome(character.value)) {
      out += kReplacement;
    } else if (changes_direction(character.value)) {
      out += fmt::format("\\u{{{:04x}}}", static_cast<std::uint32_t>(character.value));
    } else {
      out += text.substr(0, character.length);
    }
    text.remove_prefix(std::max<std::size_t>(character.length, 1));
  }
}

void append_xml_name(std::string& out, std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) {
    append_xml_text(out, text);
    return;
  }
  // Not in the middle of a character.
  std::size_t end = max_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0u) == 0x80u && max_bytes - end < 4) --end;
  append_xml_text(out, text.substr(0, end));
  out += fmt::format("… [{} bytes]", with_thousands(text.size()));
}

void append_xml_comment(std::string& out, std::string_view text) {
  std::string escaped;
  append_xml_text(escaped, text);
  for (const char c : escaped) {
    if (c == '-' && out.ends_with('-')) out += ' ';
    out += c;
  }
  if (out.ends_with('-')) out += ' ';
}

}  // namespace nodescope
