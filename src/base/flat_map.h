#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/unordered/unordered_flat_set.hpp>

#include "base/hash.h"

namespace nodescope {

// Already well mixed, so that the table need not mix it again.
struct FastHash {
  using is_avalanching = void;
  using is_transparent = void;
  std::uint64_t operator()(std::uint64_t value) const {
    return mix(value ^ 0x9E3779B97F4A7C15u, 0xE7037ED1A0B428DBu);
  }
  std::uint64_t operator()(std::string_view text) const { return hash_bytes(text); }
};

template <typename Key, typename Value, typename Hash = FastHash>
using FlatMap = boost::unordered_flat_map<Key, Value, Hash, std::equal_to<>>;

template <typename Key, typename Hash = FastHash>
using FlatSet = boost::unordered_flat_set<Key, Hash, std::equal_to<>>;

}  // namespace nodescope
