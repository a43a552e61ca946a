#include "formats/v8_log/log_line.h"

#include <algorithm>

#include "base/text.h"
#include "binary/code_point.h"

namespace nodescope::v8_log {

namespace {

// A quoted field goes on to the quote that a comma or the end of the line follows.
std::size_t end_of_quoted(std::string_view line) {
  for (std::size_t quote = line.find('"', 1); quote != std::string_view::npos;
       quote = line.find('"', quote + 1)) {
    if (quote + 1 == line.size() || line[quote + 1] == ',') return quote + 1;
  }
  return line.size();
}

// The character that `text` begins with an escape of, which is taken off; nothing if it is no escape.
std::optional<std::uint32_t> take_escape(std::string_view& text) {
  const auto take_hex = [&](std::size_t digits) -> std::optional<std::uint32_t> {
    const auto value = text.size() >= 2 + digits ? parse_hex(text.substr(2, digits)) : std::nullopt;
    if (!value) return std::nullopt;
    text.remove_prefix(2 + digits);
    return static_cast<std::uint32_t>(*value);
  };
  if (text.size() < 2) return std::nullopt;
  switch (text[1]) {
    case 'x':
      return take_hex(2);
    case 'u':
      return take_hex(4);
    case 'n':
      text.remove_prefix(2);
      return '\n';
    case '\\':
      text.remove_prefix(2);
      return '\\';
    default:
      return std::nullopt;
  }
}

}  // namespace

void LogLine::parse(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  fields_.clear();
  for (;;) {
    const std::size_t end =
        line.starts_with('"') ? end_of_quoted(line) : std::min(line.find(','), line.size());
    fields_.push_back(line.substr(0, end));
    if (end == line.size()) return;
    line.remove_prefix(end + 1);
  }
}

std::string LogLine::text(std::size_t i) const {
  std::string_view raw = (*this)[i];
  if (raw.size() > 1 && raw.front() == '"' && raw.back() == '"') raw = raw.substr(1, raw.size() - 2);
  std::string text;
  while (!raw.empty()) {
    const std::size_t plain = std::min(raw.find('\\'), raw.size());
    text += raw.substr(0, plain);
    raw.remove_prefix(plain);
    if (raw.empty()) break;
    if (const auto code_point = take_escape(raw)) {
      append_utf8(text, is_scalar_value(*code_point) ? *code_point : 0xFFFD);
    } else {
      text += raw.front();
      raw.remove_prefix(1);
    }
  }
  return is_valid_utf8(text) ? text : to_valid_utf8(text);
}

std::optional<std::uint64_t> LogLine::number(std::size_t i) const {
  return parse_log_number((*this)[i]);
}

std::optional<std::uint64_t> parse_log_number(std::string_view text) {
  return text.starts_with("0x") ? parse_hex(text.substr(2)) : parse_number<std::uint64_t>(text);
}

}  // namespace nodescope::v8_log
