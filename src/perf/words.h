#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace nodescope::perf {

// The number at `offset`, which must be inside.  Records need not be aligned in a file that is damaged.
template <typename T>
T load(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

template <typename T>
T load_or_zero(std::span<const std::byte> bytes, std::size_t offset) {
  return offset + sizeof(T) <= bytes.size() ? load<T>(bytes, offset) : T{};
}

inline std::uint64_t load_word(std::span<const std::byte> bytes, std::size_t index) {
  return load<std::uint64_t>(bytes, index * 8);
}

}  // namespace nodescope::perf
