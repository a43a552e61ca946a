#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace nodescope {

enum class TokenKind : std::uint8_t {
  kWord,  // a name or keyword; also #private
  kText,  // "…", '…'
  kNumber,
  kOther,  // a template, a regular expression
  kMark,   // punctuation: one character, but "=>" is one mark, and so are "==", "!=", "<=", ">=" and "?."
};

struct Token {
  std::uint32_t begin = 0;
  std::uint32_t size = 0;
  TokenKind kind = TokenKind::kMark;
};

// The tokens of JavaScript or TypeScript without comments.  What is inside of `${}` is read too.  It is no
// parser: JSX, and a slash where only the grammar tells a division from a regular expression, may give wrong
// tokens up to the end of the line.  Of very many tokens the last are left out.
std::vector<Token> read_tokens(std::string_view text);

}  // namespace nodescope
