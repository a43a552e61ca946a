#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace nodescope {

// Reads the field `mappings` of a source map, segment by segment.
class MappingsReader {
 public:
  struct Segment {
    // All from 0.
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    bool has_source = false;
    std::int64_t source = 0;
    std::int64_t original_line = 0;
    std::int64_t original_column = 0;
    bool has_name = false;
    std::int64_t name = 0;
  };

  explicit MappingsReader(std::string_view mappings)
      : position_(mappings.data()), end_(mappings.data() + mappings.size()) {}

  // The next one; null at the end or where the text is damaged.  What it says may be out of any range.
  const Segment* next() {
    while (position_ != end_) {
      if (*position_ == ';') {
        ++segment_.line;
        column_ = 0;
      } else if (*position_ != ',') {
        return read_segment() ? &segment_ : nullptr;
      }
      ++position_;
    }
    return nullptr;
  }

 private:
  static constexpr std::int8_t kNoDigit = -1;
  static constexpr std::array<std::int8_t, 256> kDigits = [] {
    constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::array<std::int8_t, 256> digits{};
    digits.fill(kNoDigit);
    for (std::size_t i = 0; i < kAlphabet.size(); ++i)
      digits[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::int8_t>(i);
    return digits;
  }();

  bool at_field() const { return position_ != end_ && *position_ != ',' && *position_ != ';'; }

  // Adds a number of variable length to `value`, whose range is that of 32 bits.
  bool add_field(std::int64_t& value) {
    constexpr unsigned kBitsOfDigit = 5;
    constexpr unsigned kMaxShift = 30;
    std::uint64_t number = 0;
    for (unsigned shift = 0; shift <= kMaxShift; shift += kBitsOfDigit) {
      if (position_ == end_) return false;
      const std::int8_t digit = kDigits[static_cast<unsigned char>(*position_)];
      if (digit == kNoDigit) return false;
      ++position_;
      number |= static_cast<std::uint64_t>(digit & 31) << shift;
      if ((digit & 32) != 0) continue;
      const auto magnitude = static_cast<std::int64_t>(number >> 1);
      value += (number & 1) != 0 ? -magnitude : magnitude;
      return value >= 0 && value < std::numeric_limits<std::int32_t>::max();
    }
    return false;
  }

  bool read_segment() {
    if (!add_field(column_)) return false;
    segment_.column = static_cast<std::uint32_t>(column_);
    segment_.has_source = segment_.has_name = false;
    if (!at_field()) return true;
    if (!add_field(segment_.source) || !add_field(segment_.original_line) ||
        !add_field(segment_.original_column))
      return false;
    segment_.has_source = true;
    if (!at_field()) return true;
    segment_.has_name = true;
    return add_field(segment_.name) && !at_field();
  }

  const char* position_;
  const char* end_;
  std::int64_t column_ = 0;
  Segment segment_;
};

}  // namespace nodescope
