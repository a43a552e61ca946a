#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/flat_map.h"
#include "model/profile.h"
#include "perf/record.h"

namespace nodescope::perf {

// The thread that ran when a record was written, where it has samples beside which a marker can be shown.
struct RunningThread {
  ThreadId thread;                     // 0: not known
  std::uint64_t last_sample_time = 0;  // of it
};

// Makes markers of the times of which samples are missing.
//
// The kernel says that it lost records when there is room in the buffer again.  A buffer is of one processor,
// so the loss began after the last sample of that processor; of that thread, where samples do not tell their
// processor.  Which threads the missing samples are of is not known: the marker is on the one that ran when
// the kernel told it.
class Losses {
 public:
  explicit Losses(Profile& profile) : profile_(profile) {}

  void see_sample(std::int32_t cpu, std::uint64_t time) {
    last_time_ = time;
    if (cpu < 0 || static_cast<std::size_t>(cpu) >= kMaxCpus) return;
    const auto index = static_cast<std::size_t>(cpu);
    if (index >= last_times_.size()) last_times_.resize(index + 1);
    last_times_[index] = std::max(last_times_[index], time);
  }

  void add(const RecordOrigin& origin, std::uint64_t time, std::uint64_t count, const RunningThread& running);
  void throttle(const ThrottleRecord& record, std::uint64_t time, const RunningThread& running);

  // At the end of the recording.
  void finish();

 private:
  static constexpr std::size_t kMaxCpus = 8192;  // as many as Linux can have

  void add_marker(ThreadId thread, std::uint64_t begin, std::uint64_t end, std::string_view name);

  Profile& profile_;
  std::uint64_t last_time_ = 0;
  std::vector<std::uint64_t> last_times_;                 // by processor
  FlatMap<std::uint64_t, std::uint64_t> throttled_from_;  // by stream
};

}  // namespace nodescope::perf
