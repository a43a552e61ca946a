#include "json/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "base/text.h"

namespace nodescope::json {

namespace {

constexpr std::size_t kBlockBytes = 256 * 1024;

// A name, a path or a data: address.  What is longer keeps its beginning.
constexpr std::size_t kMaxTextBytes = 16 * 1024 * 1024;

constexpr std::uint32_t kReplacement = 0xFFFD;
constexpr std::int32_t kMaxExponent = 100'000;

enum CharClass : std::uint8_t {
  kSpace = 1,
  kDigit = 2,
  kEndsText = 4,  // of a string: the quote, a backslash, the NUL behind the block
  kNests = 8,     // matters to skip_nested()
  kNotAscii = 16,
  kEndsWord = 32,
};

constexpr std::array<std::uint8_t, 256> kClasses = [] {
  std::array<std::uint8_t, 256> classes{};
  for (const unsigned char c : {' ', '\t', '\n', '\r'}) classes[c] |= kSpace | kEndsWord;
  for (unsigned char c = '0'; c <= '9'; ++c) classes[c] |= kDigit;
  for (const unsigned char c : {'"', '\\', '\0'}) classes[c] |= kEndsText;
  for (const unsigned char c : {'"', '{', '}', '[', ']', '\0'}) classes[c] |= kNests | kEndsWord;
  for (const unsigned char c : {',', ':'}) classes[c] |= kEndsWord;
  for (std::size_t c = 128; c < 256; ++c) classes[c] |= kNotAscii;
  return classes;
}();

bool is(char c, std::uint8_t char_class) {
  return (kClasses[static_cast<unsigned char>(c)] & char_class) != 0;
}

struct TextEnd {
  const char* at;
  bool ascii;
};

TextEnd find_text_end(const char* from) {
  std::uint8_t seen = 0;
  for (;;) {
    const std::uint8_t classes = kClasses[static_cast<unsigned char>(*from)];
    if ((classes & kEndsText) != 0) return {from, (seen & kNotAscii) == 0};
    seen |= classes;
    ++from;
  }
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_high_surrogate(std::uint32_t unit) {
  return unit >= 0xD800 && unit <= 0xDBFF;
}
bool is_low_surrogate(std::uint32_t unit) {
  return unit >= 0xDC00 && unit <= 0xDFFF;
}

void add_digit(Number& number, char c, bool fraction) {
  constexpr std::uint64_t kRoomForOne = std::numeric_limits<std::uint64_t>::max() / 10;
  const auto digit = static_cast<std::uint64_t>(c - '0');
  std::uint64_t grown = 0;
  if (number.digits <= kRoomForOne && !__builtin_add_overflow(number.digits * 10, digit, &grown)) {
    number.digits = grown;
    if (fraction) number.exponent = std::max(number.exponent - 1, -kMaxExponent);
  } else if (!fraction) {
    // The digit is beyond what is kept: only the size of the number remembers it.
    number.exponent = std::min(number.exponent + 1, kMaxExponent);
  }
}

}  // namespace

Reader::Reader(ByteSource& source, Progress* progress)
    : source_(source),
      progress_(progress),
      block_(std::make_unique_for_overwrite<char[]>(kBlockBytes + 1)),
      position_(block_.get()),
      end_(block_.get()) {
  block_[0] = '\0';
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (refill() && std::string_view(position_, end_).starts_with(kByteOrderMark))
    position_ += kByteOrderMark.size();
}

// ---------------------------------------------------------------- blocks and failure

bool Reader::refill() {
  if (at_end_of_source_) return false;
  block_offset_ += static_cast<std::uint64_t>(end_ - block_.get());
  position_ = end_ = block_.get();
  std::size_t size = 0;
  while (size < kBlockBytes) {
    const auto count =
        source_.read(std::as_writable_bytes(std::span(block_.get() + size, kBlockBytes - size)));
    if (!count) {
      stop(count.error());
      return false;
    }
    if (*count == 0) {
      at_end_of_source_ = true;
      break;
    }
    size += *count;
  }
  block_[size] = '\0';
  end_ = position_ + size;
  if (progress_ != nullptr) progress_->done_bytes += size;
  return size != 0;
}

// The next character that is not white space, not taken; NUL at the end.
char Reader::next_token() {
  for (;;) {
    while (is(*position_, kSpace)) ++position_;
    if (*position_ != '\0' || position_ != end_ || !refill()) return *position_;
  }
}

char Reader::take() {
  if (position_ == end_ && !refill()) return '\0';
  return *position_++;
}

// After take(): the character that was taken is the wrong one.
void Reader::fail_before(char taken, std::string_view expected) {
  if (taken != '\0' && position_ != block_.get()) --position_;
  fail(expected);
}

void Reader::fail(std::string_view expected) {
  if (failed()) return;
  truncated_ = position_ == end_ && at_end_of_source_;
  if (truncated_) {
    stop({ErrorCode::kInvalidInput, fmt::format("{}: the JSON text ends at byte {} where {} should follow",
                                                source_.name(), offset(), expected)});
  } else {
    stop({ErrorCode::kInvalidInput,
          fmt::format("{}: byte {} of the JSON text is not {}", source_.name(), offset(), expected)});
  }
}

void Reader::stop(Error error) {
  if (!failed()) error_ = std::move(error);
  at_end_of_source_ = true;
  block_offset_ = offset();
  block_[0] = '\0';
  position_ = end_ = block_.get();
  pending_ = false;
}

void Reader::skip_wrong_type() {
  const Type type = peek();
  if (type != Type::kNull && type != Type::kNone) ++wrong_types_;
  skip();
}

Result<void> Reader::finish(Diagnostics& diagnostics, bool something_read) {
  if (!failed() && next_token() != '\0') {
    diagnostics.warn("text behind the end of the JSON text is not read", fmt::format("byte {}", offset()));
  }
  if (invalid_texts_ != 0) {
    diagnostics.add(Severity::kWarning, "text that is not UTF-8: bad bytes are shown as U+FFFD", {},
                    invalid_texts_);
  }
  if (cut_texts_ != 0) diagnostics.add(Severity::kWarning, "text over 16 MB is cut", {}, cut_texts_);
  if (wrong_types_ != 0) {
    diagnostics.add(Severity::kWarning, "JSON values of an unexpected type are not read", {}, wrong_types_);
  }
  if (!failed()) return {};
  const bool damaged = error_->code == ErrorCode::kInvalidInput;
  if (!damaged || !something_read) return std::unexpected(*error_);
  diagnostics.error(truncated_ ? "the file is cut off: what is missing is not shown"
                               : "the file is damaged: what follows is not read",
                    error_->message);
  return {};
}

// ---------------------------------------------------------------- structure

Type Reader::peek() {
  switch (const char c = next_token()) {
    case '{':
      return Type::kObject;
    case '[':
      return Type::kArray;
    case '"':
      return Type::kString;
    case 't':
    case 'f':
      return Type::kBool;
    case 'n':
    case 'N':
    case 'I':
      return Type::kNull;
    default:
      return c == '-' || is(c, kDigit) ? Type::kNumber : Type::kNone;
  }
}

Object Reader::object() {
  if (next_token() != '{') {
    skip_wrong_type();
    return Object(nullptr);
  }
  ++position_;
  pending_ = false;
  return Object(this);
}

Array Reader::array() {
  if (next_token() != '[') {
    skip_wrong_type();
    return Array(nullptr);
  }
  ++position_;
  pending_ = false;
  return Array(this);
}

std::optional<std::string_view> Object::next() {
  if (reader_ == nullptr) return std::nullopt;
  if (reader_->pending_) reader_->skip();
  char c = reader_->next_token();
  if (!first_ && c == ',') {
    ++reader_->position_;
    c = reader_->next_token();
    first_ = true;
  }
  if (c == '"' && first_) {
    first_ = false;
    return reader_->read_key();
  }
  if (c == '}') {
    ++reader_->position_;
  } else {
    reader_->fail(first_ ? "a key" : "',' or '}'");
  }
  reader_ = nullptr;
  return std::nullopt;
}

bool Array::next() {
  if (reader_ == nullptr) return false;
  if (reader_->pending_) reader_->skip();
  char c = reader_->next_token();
  if (!first_) {
    if (c == ',') {
      ++reader_->position_;
      c = reader_->next_token();
    } else if (c != ']') {
      reader_->fail("',' or ']'");
      c = '\0';
    }
  }
  first_ = false;
  if (c != ']' && c != '\0') {
    reader_->pending_ = true;
    return true;
  }
  if (c == ']') {
    ++reader_->position_;
  } else {
    reader_->fail("a value or ']'");
  }
  reader_ = nullptr;
  return false;
}

std::optional<std::string_view> Reader::read_key() {
  ++position_;
  std::string_view key = read_text();
  // The block may be replaced before the next token comes.
  const auto keep_key = [&] {
    if (key.data() != key_.data()) key_ = key;
    key = key_;
  };
  if (*position_ != ':') {
    keep_key();
    if (next_token() != ':') {
      fail("':'");
      return std::nullopt;
    }
  }
  ++position_;
  if (is(*position_, kSpace) || position_ == end_) {
    keep_key();
    next_token();
  }
  pending_ = true;
  return key;
}

// ---------------------------------------------------------------- text

std::optional<std::string_view> Reader::string() {
  if (next_token() != '"') {
    skip_wrong_type();
    return std::nullopt;
  }
  ++position_;
  pending_ = false;
  const std::string_view text = read_text();
  if (failed()) return std::nullopt;
  return text;
}

// The text up to the closing quote; empty after damage.
std::string_view Reader::read_text() {
  const auto [at, ascii] = find_text_end(position_);
  if (*at != '"') return read_text_in_pieces();
  const std::string_view text(position_, at);
  position_ = at + 1;
  return ascii ? text : replace_invalid(text);
}

std::string_view Reader::read_text_in_pieces() {
  scratch_.clear();
  std::uint32_t high = 0;  // a high surrogate that waits for its low one
  for (;;) {
    const char* const at = find_text_end(position_).at;
    const bool at_end_of_block = *at == '\0' && at == end_;
    if (high != 0 && (at != position_ || (*at != '\\' && !at_end_of_block))) {
      append_code_point(kReplacement);
      high = 0;
    }
    append_text({position_, at});
    position_ = at;
    if (*at == '"') break;
    if (*at == '\0') {
      if (position_ != end_) {
        append_text({position_++, 1});
      } else if (!refill()) {
        fail("'\"'");
        return {};
      }
      continue;
    }
    const auto unit = read_escape();
    if (!unit) return {};
    if (high != 0 && is_low_surrogate(*unit)) {
      append_code_point(0x10000 + ((high - 0xD800) << 10) + (*unit - 0xDC00));
      high = 0;
      continue;
    }
    if (high != 0) append_code_point(kReplacement);
    high = is_high_surrogate(*unit) ? *unit : 0;
    if (high == 0) append_code_point(is_low_surrogate(*unit) ? kReplacement : *unit);
  }
  ++position_;
  return replace_invalid(scratch_);
}

// A backslash and what follows: a UTF-16 unit.
std::optional<std::uint32_t> Reader::read_escape() {
  ++position_;
  switch (const char c = take()) {
    case '"':
    case '\\':
    case '/':
      return static_cast<std::uint32_t>(c);
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'u':
      return read_hex4();
    default:
      fail_before(c, "an escape sequence");
      return std::nullopt;
  }
}

std::optional<std::uint32_t> Reader::read_hex4() {
  std::uint32_t unit = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = take();
    const int digit = hex_digit(c);
    if (digit < 0) {
      fail_before(c, "four hexadecimal digits");
      return std::nullopt;
    }
    unit = unit << 4 | static_cast<std::uint32_t>(digit);
  }
  return unit;
}

void Reader::append_text(std::string_view piece) {
  const std::size_t room = kMaxTextBytes - std::min(kMaxTextBytes, scratch_.size());
  if (piece.size() > room && room != 0) ++cut_texts_;
  scratch_ += piece.substr(0, room);
}

void Reader::append_code_point(std::uint32_t c) {
  std::array<char, 4> bytes;
  std::size_t size = 0;
  const auto add = [&](std::uint32_t byte) { bytes[size++] = static_cast<char>(byte); };
  if (c < 0x80) {
    add(c);
  } else if (c < 0x800) {
    add(0xC0 | c >> 6);
    add(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    add(0xE0 | c >> 12);
    add(0x80 | (c >> 6 & 0x3F));
    add(0x80 | (c & 0x3F));
  } else {
    add(0xF0 | c >> 18);
    add(0x80 | (c >> 12 & 0x3F));
    add(0x80 | (c >> 6 & 0x3F));
    add(0x80 | (c & 0x3F));
  }
  append_text({bytes.data(), size});
}

std::string_view Reader::replace_invalid(std::string_view text) {
  if (is_valid_utf8(text)) return text;
  ++invalid_texts_;
  scratch_ = to_valid_utf8(text);
  return scratch_;
}

void Reader::skip_text() {
  ++position_;
  for (;;) {
    position_ = find_text_end(position_).at;
    const char c = *position_;
    if (c == '\0' && position_ == end_) {
      if (refill()) continue;
      return fail("'\"'");
    }
    ++position_;
    if (c == '"') return;
    if (c == '\\') take();
  }
}

// ---------------------------------------------------------------- numbers and words

std::optional<Number> Reader::number() {
  const char c = next_token();
  if (c == '-' || is(c, kDigit)) {
    pending_ = false;
    return read_number();
  }
  if (c != '"') {
    skip_wrong_type();
    return std::nullopt;
  }
  const auto text = string();
  const auto value = text ? parse_number<std::int64_t>(*text) : std::nullopt;
  if (!value) {
    ++wrong_types_;
    return std::nullopt;
  }
  const auto size = static_cast<std::uint64_t>(*value);
  return Number{*value < 0 ? 0 - size : size, 0, *value < 0};
}

std::optional<Number> Reader::read_number() {
  Number number;
  number.negative = *position_ == '-';
  if (number.negative) ++position_;
  if (position_ == end_) refill();
  if (!is(*position_, kDigit)) {
    if (*position_ == 'I') {
      skip_word();
      return std::nullopt;
    }
    fail("a digit");
    return std::nullopt;
  }
  bool fraction = false;
  for (;;) {
    while (is(*position_, kDigit)) add_digit(number, *position_++, fraction);
    if (position_ == end_ && refill()) continue;
    if (*position_ != '.' || fraction) break;
    fraction = true;
    ++position_;
  }
  if (*position_ == 'e' || *position_ == 'E') {
    ++position_;
    number.exponent += read_exponent();
  }
  if (failed()) return std::nullopt;
  return number;
}

std::int32_t Reader::read_exponent() {
  char c = take();
  const bool negative = c == '-';
  if (c == '-' || c == '+') c = take();
  if (!is(c, kDigit)) {
    fail_before(c, "a digit");
    return 0;
  }
  std::int32_t exponent = c - '0';
  for (;;) {
    while (is(*position_, kDigit)) exponent = std::min(exponent * 10 + (*position_++ - '0'), kMaxExponent);
    if (position_ != end_ || !refill()) break;
  }
  return negative ? -exponent : exponent;
}

std::optional<bool> Reader::boolean() {
  const char c = next_token();
  if (c != 't' && c != 'f') {
    skip_wrong_type();
    return std::nullopt;
  }
  skip();
  if (failed()) return std::nullopt;
  return c == 't';
}

// true, false, null, NaN, Infinity, or a number that nobody wants.
void Reader::skip_word() {
  for (;;) {
    while (!is(*position_, kEndsWord)) ++position_;
    if (position_ != end_ || !refill()) return;
  }
}

void Reader::skip() {
  pending_ = false;
  switch (peek()) {
    case Type::kObject:
    case Type::kArray:
      return skip_nested();
    case Type::kString:
      return skip_text();
    case Type::kNone:
      return fail("a value");
    case Type::kNumber:
    case Type::kBool:
    case Type::kNull:
      return skip_word();
  }
}

// What nobody reads is not judged either: only strings and brackets matter.
void Reader::skip_nested() {
  brackets_.clear();
  do {
    while (!is(*position_, kNests)) ++position_;
    switch (const char c = *position_) {
      case '"':
        skip_text();
        break;
      case '{':
      case '[':
        brackets_.push_back(c == '{');
        ++position_;
        break;
      case '}':
      case ']':
        if (brackets_.back() != (c == '}')) return fail(brackets_.back() ? "'}'" : "']'");
        brackets_.pop_back();
        ++position_;
        break;
      default:
        if (position_ != end_) {
          fail("a value");
        } else if (!refill()) {
          fail("a closing bracket");
        }
    }
  } while (!brackets_.empty() && !failed());
}

}  // namespace nodescope::json
