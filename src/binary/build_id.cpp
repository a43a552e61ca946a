#include "binary/build_id.h"

#include <algorithm>

#include "base/text.h"

namespace nodescope {

std::optional<BuildId> BuildId::from_bytes(std::span<const std::byte> bytes) {
  if (bytes.empty() || bytes.size() > kMaxBytes) return std::nullopt;
  BuildId id;
  std::ranges::copy(bytes, id.bytes_.begin());
  id.size_ = static_cast<std::uint8_t>(bytes.size());
  return id;
}

std::optional<BuildId> BuildId::from_hex(std::string_view text) {
  if (text.size() % 2 != 0 || text.size() / 2 > kMaxBytes) return std::nullopt;
  std::array<std::byte, kMaxBytes> bytes;
  for (std::size_t i = 0; i < text.size() / 2; ++i) {
    const auto value = parse_number<std::uint8_t>(text.substr(i * 2, 2), 16);
    if (!value) return std::nullopt;
    bytes[i] = std::byte{*value};
  }
  return from_bytes(std::span(bytes).first(text.size() / 2));
}

std::string BuildId::to_hex() const {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes()) {
    text += kDigits[std::to_integer<std::size_t>(byte >> 4)];
    text += kDigits[std::to_integer<std::size_t>(byte & std::byte{0xF})];
  }
  return text;
}

}  // namespace nodescope
