#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/flat_map.h"

namespace nodescope::pprof {

// Finds equal samples in a run of samples of the same time.  In a profile without times that is all of them;
// in one with times runs are short, so beginning anew must be cheap even after a long one.
class RunIndex {
 public:
  // The place of `key` in the run; `next`, the size of the run, if it was not seen before.
  std::size_t place_of(std::uint64_t key, std::size_t next) {
    if (places_.empty()) {
      const auto found = std::ranges::find(few_, key);
      if (found != few_.end()) return static_cast<std::size_t>(found - few_.begin());
      few_.push_back(key);
      if (few_.size() <= kFew) return next;
      for (std::size_t i = 0; i < few_.size(); ++i) places_.emplace(few_[i], i);
      return next;
    }
    return places_.try_emplace(key, next).first->second;
  }

  void clear() {
    constexpr std::size_t kSmall = 1024;
    few_.clear();
    if (places_.empty()) return;
    if (places_.bucket_count() > kSmall) {
      places_ = {};
    } else {
      places_.clear();
    }
  }

 private:
  // Up to here looking at all of them is faster than a table.
  static constexpr std::size_t kFew = 8;

  std::vector<std::uint64_t> few_;  // by place, as long as there is no table
  FlatMap<std::uint64_t, std::size_t> places_;
};

// A run that is longer is broken: equal samples on both sides of the break stay apart, which only costs
// space.
inline constexpr std::size_t kLongestRun = std::size_t{4} << 20;

}  // namespace nodescope::pprof
