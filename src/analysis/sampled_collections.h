#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/profile.h"

namespace nodescope {

// A collection as samples show it, where its pause could not be measured.
struct SampledCollection {
  ThreadId thread;
  std::int64_t begin_ns = 0;  // of its first sample
  std::int64_t duration_ns = 0;
  std::string_view kind;  // "scavenge", "mark-compact", "incremental step", "collection"
  StackId stack;          // of the first sample

  bool operator==(const SampledCollection&) const = default;
};

// Samples of one thread that follow each other within its collector, from `first_sample` on, by thread and
// time. Each stands for the time to the next.
std::vector<SampledCollection> find_sampled_collections(const Profile& profile, std::size_t first_sample);

}  // namespace nodescope
