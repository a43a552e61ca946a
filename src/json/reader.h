#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_source.h"
#include "base/diagnostics.h"
#include "base/progress.h"
#include "base/result.h"
#include "json/number.h"

namespace nodescope::json {

enum class Type : std::uint8_t {
  kNone,
  kObject,
  kArray,
  kString,
  kNumber,
  kBool,
  kNull
};  // kNone: nothing more

class Reader;

// The members of an object, in the order of the text.  Iterate to the end: the reader goes on behind it.
class Object {
 public:
  // The next key, or nothing at the end.  It stays valid until its value is read; peek() leaves it alone.  A
  // value that was not read is skipped.
  std::optional<std::string_view> next();

 private:
  friend class Reader;
  explicit Object(Reader* reader) : reader_(reader) {}

  Reader* reader_;  // null at the end
  bool first_ = true;
};

// The elements of an array.  Iterate to the end: the reader goes on behind it.
class Array {
 public:
  // Whether there is a next element.  One that was not read is skipped.
  bool next();

 private:
  friend class Reader;
  explicit Array(Reader* reader) : reader_(reader) {}

  Reader* reader_;
  bool first_ = true;
};

// Pulls one JSON text out of a source, in blocks: the text is never held as a whole.
//
//   auto members = reader.object();
//   while (const auto key = members.next()) {
//     if (*key == "name") name = reader.string();
//   }
//
// A value of another type than asked for is skipped and counted.  Damage is sticky: from then on there are no
// values, keys or elements, so every loop ends; error() has the reason.  Nesting costs no stack: skip()
// counts brackets, and only the caller descends.
//
// Beyond the standard it takes what profilers are known to write: a byte order mark, a comma before a closing
// bracket, NaN and Infinity (as null), numbers in quotes, raw control characters and surrogates without a
// partner (as U+FFFD) in strings.
class Reader {
 public:
  explicit Reader(ByteSource& source, Progress* progress = nullptr);

  // What the next value is; kNone at the end of the text or after damage.
  Type peek();

  // The next value.  Text stays valid until the next call of the reader.
  Object object();
  Array array();
  std::optional<std::string_view> string();
  std::optional<Number> number();
  std::optional<bool> boolean();
  void skip();

  // Every number of the next value, an array; a null or a text in it is an empty one.
  template <typename Each>
  void numbers(Each&& each) {
    auto elements = array();
    while (elements.next()) {
      while (const auto plain = take_plain_integer()) each(plain);
      each(number());
    }
  }

  // To be called behind the last value: adds to `diagnostics` what was strange about the text.  An error, if
  // the source failed, or the text is damaged and `something_read` is false.
  Result<void> finish(Diagnostics& diagnostics, bool something_read);

  // Whether the text ended before its time.
  bool truncated() const { return truncated_; }

  bool failed() const { return error_.has_value(); }
  const std::optional<Error>& error() const { return error_; }
  std::uint64_t offset() const {
    return block_offset_ + static_cast<std::uint64_t>(position_ - block_.get());
  }

 private:
  friend class Object;
  friend class Array;

  // The due element if it is an integer without a sign and another number follows it within the block, as in
  // "17,4,…": nearly all of a large profile.  The element behind it is due then.
  std::optional<Number> take_plain_integer() {
    const char* end = position_;
    std::uint64_t digits = 0;
    for (; *end >= '0' && *end <= '9'; ++end) digits = digits * 10 + static_cast<std::uint64_t>(*end - '0');
    const bool exact = end != position_ && end - position_ <= 18;
    if (!exact || *end != ',' || end[1] < '0' || end[1] > '9') return std::nullopt;
    position_ = end + 1;
    return Number{digits, 0, false};
  }

  bool refill();
  char next_token();
  char take();
  void fail(std::string_view expected);
  void fail_before(char taken, std::string_view expected);
  void stop(Error error);

  std::string_view read_text();
  std::string_view read_text_in_pieces();
  std::optional<std::uint32_t> read_escape();
  std::optional<std::uint32_t> read_hex4();
  void append_text(std::string_view piece);
  void append_code_point(std::uint32_t code_point);
  std::string_view replace_invalid(std::string_view text);
  std::optional<std::string_view> read_key();

  std::optional<Number> read_number();
  std::int32_t read_exponent();
  void skip_text();
  void skip_nested();
  void skip_word();
  void skip_wrong_type();

  ByteSource& source_;
  Progress* progress_;
  std::unique_ptr<char[]> block_;  // one NUL behind its content, so that scanning needs no bound
  const char* position_;
  const char* end_;
  std::uint64_t block_offset_ = 0;  // of block_ in the text
  bool at_end_of_source_ = false;
  bool pending_ = true;  // a value is due that nobody has read yet

  std::string scratch_;         // text with escapes, or across blocks
  std::string key_;             // a key at the end of a block
  std::vector<bool> brackets_;  // of skip_nested(): true for an object
  std::optional<Error> error_;
  bool truncated_ = false;
  std::uint64_t invalid_texts_ = 0;
  std::uint64_t cut_texts_ = 0;
  std::uint64_t wrong_types_ = 0;
};

}  // namespace nodescope::json
