#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/flat_map.h"
#include "formats/perf_data/event_attributes.h"
#include "formats/perf_data/processes.h"
#include "model/profile.h"

namespace nodescope::perf {

// Makes markers of the times of which samples are missing.
//
// The kernel says that it lost records when there is room in the buffer again.  A buffer is of one processor,
// so the loss began after the last sample of that processor; of that thread, where samples do not tell their
// processor.  Which threads the missing samples are of is not known: the marker is on the one that ran when
// the kernel told it.
class Losses {
 public:
  Losses(Profile& profile, Processes& processes) : profile_(profile), processes_(processes) {}

  void see_sample(ThreadState& thread, std::int32_t cpu, std::uint64_t time) {
    thread.last_sample_time = time;
    last_time_ = time;
    if (cpu < 0 || static_cast<std::size_t>(cpu) >= kMaxCpus) return;
    const auto index = static_cast<std::size_t>(cpu);
    if (index >= last_times_.size()) last_times_.resize(index + 1);
    last_times_[index] = time;
  }

  void add(const RecordOrigin& origin, std::uint64_t time, std::uint64_t count);

  // `stream` tells the event on one processor or of one thread.
  void throttle(std::uint64_t stream, std::uint64_t time);
  void unthrottle(const RecordOrigin& origin, std::uint64_t stream, std::uint64_t time);

  // At the end of the recording.
  void finish();

 private:
  static constexpr std::size_t kMaxCpus = 8192;  // as many as Linux can have

  ThreadState* thread_of(const RecordOrigin& origin);
  void add_marker(ThreadState* thread, std::uint64_t begin, std::uint64_t end, std::string_view name);

  Profile& profile_;
  Processes& processes_;
  std::uint64_t last_time_ = 0;
  std::vector<std::uint64_t> last_times_;                 // by processor
  FlatMap<std::uint64_t, std::uint64_t> throttled_from_;  // by stream
};

}  // namespace nodescope::perf
