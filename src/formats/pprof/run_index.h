#pragma once

#include <cstddef>
#include <cstdint>

#include "base/flat_map.h"

namespace nodescope::pprof {

// Finds equal samples in a run of samples of the same time.  In a profile without times that is all of them;
// in one with times runs are short, so beginning anew must be cheap even after a long one.
class RunIndex {
 public:
  // The place of `key` in the run; `next` if it was not seen before.
  std::size_t place_of(std::uint64_t key, std::size_t next) {
    return places_.try_emplace(key, next).first->second;
  }

  void clear() {
    constexpr std::size_t kSmall = 1024;
    if (places_.bucket_count() > kSmall) {
      places_ = {};
    } else {
      places_.clear();
    }
  }

 private:
  FlatMap<std::uint64_t, std::size_t> places_;
};

// A run that is longer is broken: equal samples on both sides of the break stay apart, which only costs
// space.
inline constexpr std::size_t kLongestRun = std::size_t{4} << 20;

}  // namespace nodescope::pprof
