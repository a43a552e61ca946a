#include "analysis/heap/ephemerons.h"

#include "base/text.h"

namespace nodescope {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// Cuts digits off the end of `text`.
std::string_view take_digits_from_end(std::string_view& text) {
  std::size_t begin = text.size();
  while (begin != 0 && is_digit(text[begin - 1])) --begin;
  const std::string_view digits = text.substr(begin);
  text.remove_suffix(digits.size());
  return digits;
}

bool take_end(std::string_view& text, std::string_view end) {
  if (!text.ends_with(end)) return false;
  text.remove_suffix(end.size());
  return true;
}

// Cuts " @<id>)" off the end.
bool take_id_from_end(std::string_view& text) {
  return take_end(text, ")") && !take_digits_from_end(text).empty() && take_end(text, " @");
}

// In a regular expression without the flag s no dot matches them, and DevTools' has none.
bool has_line_end(std::string_view text) {
  return text.find_first_of("\n\r") != std::string_view::npos ||
         text.find("\xE2\x80\xA8") != std::string_view::npos ||
         text.find("\xE2\x80\xA9") != std::string_view::npos;
}

// "<name> @<id>) -> value (<name>", where both names may contain all of that.
bool is_key_and_value(std::string_view text) {
  constexpr std::string_view kValue = " -> value (";
  for (std::size_t at = text.find(kValue); at != std::string_view::npos; at = text.find(kValue, at + 1)) {
    std::string_view key = text.substr(0, at);
    if (take_id_from_end(key)) return true;
  }
  return false;
}

}  // namespace

std::optional<Ephemeron> parse_ephemeron(std::string_view name) {
  if (name.empty() || !is_digit(name.front()) || name.back() != ')') return std::nullopt;
  std::string_view text = name.substr(name.find_first_not_of("0123456789"));
  const std::string_view pair = text;
  if (!text.starts_with(" / part of key (") || !take_end(text, ")")) return std::nullopt;
  const std::string_view table = take_digits_from_end(text);
  const auto table_id = parse_number<std::uint64_t>(table);
  if (!table_id || !take_end(text, " pair in WeakMap (table @") || !take_id_from_end(text))
    return std::nullopt;
  constexpr std::size_t kBegin = std::string_view(" / part of key (").size();
  if (text.size() < kBegin) return std::nullopt;
  text.remove_prefix(kBegin);
  if (!is_key_and_value(text) || has_line_end(text)) return std::nullopt;
  return Ephemeron{*table_id, pair};
}

EphemeronNames::EphemeronNames(const HeapGraph& graph) : graph_(graph), is_one_(graph.strings.size()) {
  for (std::uint32_t i = 0; i < graph.strings.size(); ++i) {
    const auto ephemeron = parse_ephemeron(graph.strings[i]);
    if (!ephemeron) continue;
    is_one_.set(i);
    known_.emplace(i, *ephemeron);
  }
}

}  // namespace nodescope
