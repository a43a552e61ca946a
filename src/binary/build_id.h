#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nodescope {

// What a linker writes into a binary, and `strip` keeps, to tell it from every other one: mostly a SHA-1 of
// 20 bytes.
class BuildId {
 public:
  static constexpr std::size_t kMaxBytes = 32;

  // Nothing when there are no bytes or more than kMaxBytes.
  static std::optional<BuildId> from_bytes(std::span<const std::byte> bytes);
  static std::optional<BuildId> from_hex(std::string_view text);

  std::span<const std::byte> bytes() const { return std::span(bytes_).first(size_); }
  std::string to_hex() const;

  // perf.data pads ids to 20 bytes with zeros, and old versions of perf do not write the true length:
  // trailing zeros make no difference.
  bool operator==(const BuildId& other) const { return bytes_ == other.bytes_; }

 private:
  std::array<std::byte, kMaxBytes> bytes_{};
  std::uint8_t size_ = 0;
};

}  // namespace nodescope
