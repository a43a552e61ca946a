#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "v8/heap.h"

namespace nodescope::v8 {

// The characters of a string as V8 counts them: Latin-1 bytes, or UTF-16 units once one of them needs it.
class FlatString {
 public:
  std::size_t size() const { return wide_ ? units_.size() : bytes_.size(); }
  char16_t operator[](std::size_t index) const {
    return wide_ ? units_[index] : static_cast<char16_t>(static_cast<unsigned char>(bytes_[index]));
  }
  std::string to_utf8() const;

  void append_latin1(const std::string& bytes);
  void append_utf16(const std::u16string& units);

 private:
  bool wide_ = false;
  std::string bytes_;
  std::u16string units_;
};

// Any kind of string: sequential, external, cons, sliced or thin.  Nothing when it is not one, has more than
// `limit` characters, or leads in circles.
std::optional<FlatString> load_string(Heap& heap, TaggedWord word, std::size_t limit);

// The first `count` characters, or all where there are fewer.
std::optional<FlatString> load_string_prefix(Heap& heap, TaggedWord word, std::size_t count);

// In characters.  Nothing when it is not a string.
std::optional<std::size_t> string_length(Heap& heap, TaggedWord word);

// Names of functions, scripts and properties.  Longer ones are no names.
constexpr std::size_t kMaxNameUnits = 64 * 1024;
std::optional<std::string> load_name(Heap& heap, TaggedWord word);

}  // namespace nodescope::v8
