#pragma once

#include <cstddef>
#include <vector>

#include "analysis/overview.h"
#include "model/profile.h"

namespace nodescope {

// The CPU time that samples stand for: what they weigh where the event counts time, else the time between two
// samples of a busy thread.  Every view that speaks of CPU use goes by it.
class CpuTime {
 public:
  CpuTime(const Profile& profile, const Overview& overview);

  // False where neither is known, and where samples have no times; then all of ns() is 0.
  bool is_known(EventId event) const { return by_event_[event.index()].is_time || period_ns_ > 0; }
  double ns(std::size_t sample) const {
    const Event& event = by_event_[profile_.samples.context(sample).event.index()];
    return event.is_time ? static_cast<double>(profile_.samples.weight(sample)) : event.counts * period_ns_;
  }

 private:
  struct Event {
    bool is_time = false;
    double counts = 1;  // samples of bytes stand for no time
  };

  const Profile& profile_;
  std::vector<Event> by_event_;
  double period_ns_ = 0;
};

}  // namespace nodescope
