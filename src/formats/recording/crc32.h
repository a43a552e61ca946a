#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace nodescope::recording {

// The CRC-32 of gzip and PNG (reflected 0xEDB88320), eight bytes a step.  Our own, although zlib has one,
// because the page reads recordings too and has no zlib.
namespace crc32_detail {

using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0xEDB88320u : 0u);
    tables[0][i] = value;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t i = 0; i < 256; ++i) {
      const std::uint32_t before = tables[k - 1][i];
      tables[k][i] = tables[0][before & 0xFF] ^ (before >> 8);
    }
  }
  return tables;
}

inline constexpr Tables kTables = make_tables();

}  // namespace crc32_detail

inline std::uint32_t crc32(std::span<const std::byte> bytes) {
  const auto& tables = crc32_detail::kTables;
  std::uint32_t crc = 0xFFFFFFFFu;
  const std::byte* p = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, p += 8) {
    std::uint64_t word;
    std::memcpy(&word, p, sizeof(word));
    word ^= crc;
    crc = 0;
    for (std::size_t k = 0; k < 8; ++k) crc ^= tables[7 - k][(word >> (8 * k)) & 0xFF];
  }
  for (; left > 0; --left, ++p)
    crc = tables[0][(crc ^ std::to_integer<std::uint32_t>(*p)) & 0xFF] ^ (crc >> 8);
  return ~crc;
}

}  // namespace nodescope::recording
