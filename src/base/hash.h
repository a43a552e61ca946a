#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace nodescope {

// Folded 64x64->128 multiplication: the mixing step of the fastest portable string hashes.
inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// For tables in memory only: the value may change between versions and must never be stored.
inline std::uint64_t hash_bytes(const char* data, std::size_t size) {
  constexpr std::uint64_t kA = 0xA0761D6478BD642Fu;
  constexpr std::uint64_t kB = 0xE7037ED1A0B428DBu;
  const auto load8 = [](const char* p) {
    std::uint64_t v;
    std::memcpy(&v, p, 8);
    return v;
  };
  std::uint64_t state = kA ^ size;
  const char* p = data;
  std::size_t left = size;
  while (left > 16) {
    state = mix(load8(p) ^ kA, load8(p + 8) ^ state);
    p += 16;
    left -= 16;
  }
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  if (left >= 8) {
    a = load8(p);
    b = load8(p + left - 8);
  } else if (left > 0) {
    std::memcpy(&a, p, left);
  }
  return mix(a ^ kB, b ^ state);
}

inline std::uint64_t hash_bytes(std::string_view text) {
  return hash_bytes(text.data(), text.size());
}

}  // namespace nodescope
