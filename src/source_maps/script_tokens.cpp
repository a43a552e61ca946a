#include "source_maps/script_tokens.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace nodescope {

namespace {

// The text of TypeScript's compiler, 9 MB, has a third of these.
constexpr std::size_t kMaxTokens = 4'000'000;

bool is_word_char(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
         byte == '_' || byte == '$' || byte == '\\' || byte >= 0x80;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

// After these an expression begins, so a slash begins a regular expression.
bool expects_expression(std::string_view word) {
  constexpr auto kWords =
      std::to_array<std::string_view>({"await", "case", "delete", "do", "else", "in", "instanceof", "new",
                                       "of", "return", "throw", "typeof", "void", "yield"});
  return std::ranges::find(kWords, word) != kWords.end();
}

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view text) : text_(text) {}

  std::vector<Token> read() {
    if (text_.starts_with("#!")) skip_line();
    while (at_ < text_.size() && tokens_.size() < kMaxTokens) read_one();
    return std::move(tokens_);
  }

 private:
  bool at(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  void skip_line() { at_ = std::min(text_.find('\n', at_), text_.size()); }

  void add(TokenKind kind, std::size_t begin) {
    tokens_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(at_ - begin), kind});
  }

  void read_one() {
    const char c = text_[at_];
    if (is_space(c)) {
      ++at_;
    } else if (at("//")) {
      skip_line();
    } else if (at("/*")) {
      const std::size_t end = text_.find("*/", at_ + 2);
      at_ = end == std::string_view::npos ? text_.size() : end + 2;
    } else if (is_word_char(c) || (c == '#' && at_ + 1 < text_.size() && is_word_char(text_[at_ + 1]))) {
      read_word();
    } else if (c == '"' || c == '\'') {
      read_text(c);
    } else if (c == '`') {
      read_template();
    } else if (c == '/' && begins_expression()) {
      read_regexp();
    } else {
      read_mark();
    }
  }

  void read_word() {
    const std::size_t begin = at_++;
    while (at_ < text_.size() && is_word_char(text_[at_])) ++at_;
    add(is_digit(text_[begin]) ? TokenKind::kNumber : TokenKind::kWord, begin);
  }

  // A text ends with its line if it has no end, as an apostrophe does that is none of JavaScript's.
  void read_text(char quote) {
    const std::size_t begin = at_++;
    while (at_ < text_.size() && text_[at_] != quote && text_[at_] != '\n')
      at_ += text_[at_] == '\\' && at_ + 1 < text_.size() ? 2 : 1;
    if (at_ >= text_.size() || text_[at_] == '\n') {
      at_ = begin + 1;
      return add(TokenKind::kMark, begin);
    }
    ++at_;
    add(TokenKind::kText, begin);
  }

  // Up to the end or to "${"; what is between that and its "}" are tokens of their own.
  void read_template() {
    const std::size_t begin = at_++;
    while (at_ < text_.size() && text_[at_] != '`') {
      if (at("${")) {
        at_ += 2;
        template_depths_.push_back(depth_);
        return add(TokenKind::kOther, begin);
      }
      at_ += text_[at_] == '\\' && at_ + 1 < text_.size() ? 2 : 1;
    }
    at_ = std::min(at_ + 1, text_.size());
    add(TokenKind::kOther, begin);
  }

  bool begins_expression() const {
    if (tokens_.empty()) return true;
    const Token& last = tokens_.back();
    const std::string_view word = text_.substr(last.begin, last.size);
    if (last.kind == TokenKind::kWord) return expects_expression(word);
    return last.kind == TokenKind::kMark && word != ")" && word != "]" && word != "}";
  }

  void read_regexp() {
    const std::size_t begin = at_++;
    bool in_class = false;
    while (at_ < text_.size() && text_[at_] != '\n' && (in_class || text_[at_] != '/')) {
      if (text_[at_] == '[') in_class = true;
      if (text_[at_] == ']') in_class = false;
      at_ += text_[at_] == '\\' && at_ + 1 < text_.size() ? 2 : 1;
    }
    if (at_ >= text_.size() || text_[at_] == '\n') {
      at_ = begin + 1;
      return add(TokenKind::kMark, begin);
    }
    ++at_;
    while (at_ < text_.size() && is_word_char(text_[at_])) ++at_;
    add(TokenKind::kOther, begin);
  }

  void read_mark() {
    const std::size_t begin = at_;
    const char c = text_[at_];
    if (c == '{') ++depth_;
    if (c == '}' && !template_depths_.empty() && template_depths_.back() == depth_) {
      template_depths_.pop_back();
      return read_template();
    }
    if (c == '}' && depth_ > 0) --depth_;
    for (const std::string_view mark : {"===", "!==", "=>", "==", "!=", "<=", ">=", "?."}) {
      if (!at(mark)) continue;
      at_ += mark.size();
      return add(TokenKind::kMark, begin);
    }
    ++at_;
    add(TokenKind::kMark, begin);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;                     // of braces
  std::vector<std::size_t> template_depths_;  // at each "${" that is open
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> read_tokens(std::string_view text) {
  return Tokenizer(text).read();
}

}  // namespace nodescope
