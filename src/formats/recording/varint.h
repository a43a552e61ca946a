#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "base/byte_source.h"

namespace nodescope::recording {

// Small numbers of either sign become small numbers: 0, -1, 1, -2 -> 0, 1, 2, 3.
constexpr std::uint64_t zigzag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unzigzag(std::uint64_t value) {
  return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

inline void put_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}

// Size and content.
inline void put_text(std::string& out, std::string_view text) {
  put_varint(out, text.size());
  out += text;
}

// Reads a payload.  Failure is sticky and yields zeros, so that a whole column is decoded before it is
// checked once.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes)
      : next_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  std::uint64_t varint() {
    if (remaining() < sizeof(std::uint64_t)) return varint_by_byte();
    std::uint64_t word;
    std::memcpy(&word, next_, sizeof(word));
    // In most columns nearly all numbers take one byte, or nearly all take two.
    if ((word & 0x80) == 0) {
      ++next_;
      return word & 0x7F;
    }
    if ((word & 0x8000) == 0) {
      next_ += 2;
      return (word & 0x7F) | ((word & 0x7F00) >> 1);
    }
    const std::uint64_t stops = ~word & 0x8080808080808080u;
    if (stops == 0) return varint_by_byte();
    const auto bits = static_cast<unsigned>(std::countr_zero(stops)) + 1;
    next_ += bits / 8;
    word &= ~std::uint64_t{0} >> (64 - bits);
    word = (word & 0x007F007F007F007Fu) | ((word & 0x7F007F007F007F00u) >> 1);
    word = (word & 0x00003FFF00003FFFu) | ((word & 0x3FFF00003FFF0000u) >> 2);
    return (word & 0x000000000FFFFFFFu) | ((word & 0x0FFFFFFF00000000u) >> 4);
  }

  std::int64_t signed_varint() { return unzigzag(varint()); }

  std::uint8_t byte() {
    if (next_ == end_) return fail();
    return std::to_integer<std::uint8_t>(*next_++);
  }

  std::span<const std::byte> take(std::uint64_t count) {
    if (count > remaining()) {
      fail();
      return {};
    }
    const std::span<const std::byte> part(next_, static_cast<std::size_t>(count));
    next_ += count;
    return part;
  }

  std::string_view text() { return as_text(take(varint())); }

  std::size_t remaining() const { return static_cast<std::size_t>(end_ - next_); }
  bool failed() const { return failed_; }
  // All was read, and nothing beyond.
  bool finished() const { return !failed_ && next_ == end_; }

 private:
  std::uint8_t fail() {
    failed_ = true;
    next_ = end_;
    return 0;
  }

  std::uint64_t varint_by_byte() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint64_t part = byte();
      if (shift == 63 && part > 1) break;
      value |= (part & 0x7F) << shift;
      if ((part & 0x80) == 0) return failed_ ? 0 : value;
    }
    return fail();
  }

  const std::byte* next_;
  const std::byte* end_;
  bool failed_ = false;
};

}  // namespace nodescope::recording
