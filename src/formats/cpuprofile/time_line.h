#pragma once

#include <cstdint>
#include <vector>

#include "model/profile.h"

namespace nodescope {

// Indices of the samples of `event`, in the order of time.
std::vector<std::uint32_t> samples_in_order(const Profile& profile, EventId event);

// The samples of one thread and one event, whatever their processors.
struct ThreadSamples {
  ThreadId thread;
  EventId event;
  std::vector<std::uint32_t> samples;  // indices, in the order of time
  std::uint64_t weight = 0;
};
std::vector<ThreadSamples> samples_by_thread(const Profile& profile);

// Lays samples one behind the other on a time line where each lasts for its weight: as early as its time, but
// never before the end of the one before.
class TimeLine {
 public:
  struct Place {
    std::int64_t gap_start_ns;  // == start_ns: nothing between the sample before and this one
    std::int64_t start_ns;
  };

  Place add(std::int64_t time_ns, std::uint64_t duration_ns);

  // From one start to a later one; what is beyond 63 bits, which only a damaged file has, becomes their
  // maximum.
  static std::int64_t distance(std::int64_t from_ns, std::int64_t to_ns);

  // Where the first sample starts and the last one ends; 0 without samples.
  std::int64_t start_ns() const { return start_ns_; }
  std::int64_t end_ns() const { return end_ns_; }

 private:
  bool empty_ = true;
  std::int64_t start_ns_ = 0;
  std::int64_t end_ns_ = 0;
};

}  // namespace nodescope
