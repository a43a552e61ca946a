#pragma once

#include <cstdint>
#include <vector>

namespace nodescope {

// One bit for each row of a large table.
class Bits {
 public:
  explicit Bits(std::size_t size) : words_((size + kWordBits - 1) / kWordBits) {}

  bool operator[](std::size_t i) const { return (words_[i / kWordBits] >> i % kWordBits & 1u) != 0; }
  void set(std::size_t i) { words_[i / kWordBits] |= std::uint64_t{1} << i % kWordBits; }
  void clear(std::size_t i) { words_[i / kWordBits] &= ~(std::uint64_t{1} << i % kWordBits); }

 private:
  static constexpr std::size_t kWordBits = 64;
  std::vector<std::uint64_t> words_;
};

}  // namespace nodescope
