#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>

#include "base/byte_source.h"

namespace nodescope {

// A bounds-checked cursor over little-endian bytes.  Failure is sticky: after a read past the end every
// further read gives nothing, so a parser may check once per record.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename T>
    requires std::is_trivially_copyable_v<T>
  std::optional<T> read() {
    const auto raw = take(sizeof(T));
    if (!raw) return std::nullopt;
    T value;
    std::memcpy(&value, raw->data(), sizeof(T));
    return value;
  }

  std::optional<std::span<const std::byte>> take(std::uint64_t count) {
    if (failed_ || count > remaining()) {
      failed_ = true;
      return std::nullopt;
    }
    const auto part = bytes_.subspan(offset_, static_cast<std::size_t>(count));
    offset_ += static_cast<std::size_t>(count);
    return part;
  }

  // Text up to a NUL, which is consumed but not returned.
  std::optional<std::string_view> read_c_string() {
    const std::string_view rest = as_text(bytes_.subspan(failed_ ? bytes_.size() : offset_));
    const std::size_t end = rest.find('\0');
    if (end == std::string_view::npos) {
      failed_ = true;
      return std::nullopt;
    }
    offset_ += end + 1;
    return rest.substr(0, end);
  }

  // LEB128.  More than 64 bits of value fail.
  std::optional<std::uint64_t> read_varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      const auto byte = read<std::uint8_t>();
      if (!byte) return std::nullopt;
      if (shift == 63 && *byte > 1) break;
      value |= std::uint64_t{*byte & 0x7Fu} << shift;
      if ((*byte & 0x80u) == 0) return value;
    }
    failed_ = true;
    return std::nullopt;
  }

  std::size_t offset() const { return offset_; }
  std::size_t remaining() const { return bytes_.size() - offset_; }
  bool failed() const { return failed_; }

 private:
  std::span<const std::byte> bytes_;
  std::size_t offset_ = 0;
  bool failed_ = false;
};

}  // namespace nodescope
