#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/hash.h"

namespace nodescope {

// A hash that stands for what was hashed: the text itself is not kept.  Of n different texts two have the
// same 96 bits that HashIndex compares with a probability of n*n / 2^97: 6e-18 for a million.  The keys are
// drawn at random at the start, so nobody can write a file in which it happens.
struct WideHash {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  bool operator==(const WideHash&) const = default;
};

struct WideHashKeys {
  std::uint64_t low;
  std::uint64_t high;
};
// Drawn once per run.
const WideHashKeys& wide_hash_keys();

inline WideHash extend(WideHash hash, std::uint64_t a, std::uint64_t b, const WideHashKeys& keys) {
  return {mix(a ^ keys.low, b ^ hash.low), mix(a ^ keys.high, b ^ hash.high)};
}

inline WideHash hash_line(std::string_view line, const WideHashKeys& keys) {
  const auto load8 = [](const char* p) {
    std::uint64_t value;
    std::memcpy(&value, p, 8);
    return value;
  };
  const std::size_t size = line.size();
  WideHash hash{keys.high ^ size, keys.low ^ size};
  if (size < 16) [[unlikely]] {
    char padded[16] = {};
    std::memcpy(padded, line.data(), size);
    return extend(hash, load8(padded), load8(padded + 8), keys);
  }
  // The last step takes the last 16 bytes, whatever part of them the steps before have taken.
  const char* const last = line.data() + size - 16;
  for (const char* p = line.data(); p < last; p += 16) hash = extend(hash, load8(p), load8(p + 8), keys);
  return extend(hash, load8(last), load8(last + 8), keys);
}

// A number for every hash.
class HashIndex {
 public:
  HashIndex() { clear(); }

  // 0 if the hash is new; the caller then puts a number other than 0 there before the next call.
  std::uint32_t& operator[](const WideHash& hash) {
    const auto check = static_cast<std::uint32_t>(hash.high);
    for (std::size_t i = hash.low & mask_;; i = (i + 1) & mask_) {
      Slot& slot = slots_[i];
      if (slot.low == hash.low && slot.high == check) [[likely]]
        return slot.number;
      if (slot.number == 0) return add(hash);
    }
  }

  // Fetches what operator[] will look at into the cache.
  void prefetch(const WideHash& hash) const { __builtin_prefetch(&slots_[hash.low & mask_]); }

  std::size_t size() const { return size_; }
  void clear();

 private:
  struct Slot {
    std::uint64_t low = 0;
    std::uint32_t high = 0;
    std::uint32_t number = 0;  // 0: free
  };

  std::uint32_t& add(const WideHash& hash);
  Slot& free_slot(std::uint64_t low);
  void grow();

  std::vector<Slot> slots_;
  std::size_t mask_ = 0;
  std::size_t size_ = 0;
};

}  // namespace nodescope
