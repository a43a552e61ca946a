#include "source_maps/generated_head.h"

#include <algorithm>
#include <array>

namespace nodescope {

namespace {

// Parameters that are longer are believed.
constexpr std::size_t kMaxParameterBytes = 4096;
constexpr std::size_t kMaxHeadBytes = 300;

bool is_word_char(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
         byte == '_' || byte == '$' || byte == '#' || byte >= 0x80;
}

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

std::size_t skip_spaces(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

bool is_keyword(std::string_view word) {
  constexpr auto kWords =
      std::to_array<std::string_view>({"async", "await", "case", "default", "else", "function", "in", "of",
                                       "return", "typeof", "void", "yield"});
  return std::ranges::find(kWords, word) != kWords.end();
}

// Behind the parenthesis that closes that at `open`; texts with parentheses in them may mislead.
std::optional<std::size_t> after_parameters(std::string_view text, std::size_t open) {
  std::size_t depth = 0;
  const std::size_t end = std::min(text.size(), open + kMaxParameterBytes);
  for (std::size_t at = open; at < end; ++at) {
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && --depth == 0) return at + 1;
  }
  return std::nullopt;
}

bool begins_body(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(skip_spaces(text, at));
  return rest.starts_with('{') || rest.starts_with("=>");
}

GeneratedHead name_before(std::string_view text, std::size_t at) {
  while (at > 0 && is_space(text[at - 1])) --at;
  std::size_t begin = at;
  while (begin > 0 && is_word_char(text[begin - 1])) --begin;
  if (begin == at || is_keyword(text.substr(begin, at - begin))) return {};
  return {begin, at - begin};
}

}  // namespace

std::string_view word_at(std::string_view text, std::size_t offset) {
  std::size_t end = std::min(offset, text.size());
  while (end < text.size() && is_word_char(text[end])) ++end;
  return text.substr(std::min(offset, end), end - std::min(offset, end));
}

std::optional<GeneratedHead> head_at(std::string_view text, std::size_t offset) {
  if (offset >= text.size()) return std::nullopt;
  if (text[offset] == '(') {
    const auto end = after_parameters(text, offset);
    if (end && !begins_body(text, *end)) return std::nullopt;
    return name_before(text, offset);
  }
  const std::string_view word = word_at(text, offset);
  if (word == "class" || word == "async" || word == "function") return GeneratedHead{};
  if (word.empty() || !text.substr(skip_spaces(text, offset + word.size())).starts_with("=>"))
    return std::nullopt;
  return GeneratedHead{};
}

bool is_within_head(std::string_view text) {
  if (text.size() > kMaxHeadBytes || text.contains("=>")) return false;
  return std::ranges::none_of(
      text, [](char c) { return c == '{' || c == '}' || c == ';' || c == ',' || c == ')'; });
}

}  // namespace nodescope
