#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/flat_map.h"

namespace nodescope {

// Up to this many sums there is an array with a place for each, beyond that a table of those that occur.
inline constexpr std::uint64_t kMaxDenseSums = 16'000'000;

// Sums by a small number, say that of a stack, and a group, say a thread.
class GroupSums {
 public:
  GroupSums(std::size_t keys, std::size_t groups) : keys_(keys) {
    if (std::uint64_t{keys} * groups <= kMaxDenseSums) dense_.resize(keys * groups);
  }

  void add(std::size_t key, std::size_t group, std::uint64_t weight) {
    if (!dense_.empty()) {
      dense_[group * keys_ + key] += weight;
    } else {
      sparse_[std::uint64_t{group} << 32 | key] += weight;
    }
  }

  // The sums of a group by key, to be added to directly; nothing where there are too many for that.
  std::span<std::uint64_t> group(std::size_t number) {
    return dense_.empty() ? std::span<std::uint64_t>() : std::span(dense_).subspan(number * keys_, keys_);
  }

  // Sums other than 0, ordered by group and key: use(key, group, sum).
  void visit(const auto& use) const {
    for (std::size_t i = 0; i < dense_.size(); ++i) {
      if (dense_[i] != 0) use(i % keys_, i / keys_, dense_[i]);
    }
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ordered(sparse_.begin(), sparse_.end());
    std::ranges::sort(ordered);
    for (const auto& [both, sum] : ordered) {
      use(static_cast<std::size_t>(both & 0xFFFFFFFF), static_cast<std::size_t>(both >> 32), sum);
    }
  }

 private:
  std::size_t keys_;
  std::vector<std::uint64_t> dense_;
  FlatMap<std::uint64_t, std::uint64_t> sparse_;
};

}  // namespace nodescope
