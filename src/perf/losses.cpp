#include "perf/losses.h"

#include <fmt/format.h>

namespace nodescope::perf {

namespace {

constexpr std::string_view kThrottled = "throttled";

}  // namespace

void Losses::add(const RecordOrigin& origin, std::uint64_t time, std::uint64_t count,
                 const RunningThread& running) {
  std::uint64_t begin = running.last_sample_time != 0 ? running.last_sample_time : time;
  if (origin.cpu && *origin.cpu < last_times_.size() && last_times_[*origin.cpu] != 0)
    begin = last_times_[*origin.cpu];
  add_marker(running.thread, std::min(begin, time), time, fmt::format("{} lost", count));
}

void Losses::throttle(const ThrottleRecord& record, std::uint64_t time, const RunningThread& running) {
  if (record.begins) {
    profile_.diagnostics.info("the kernel throttled sampling: some time has fewer samples");
    if (time != 0) throttled_from_.try_emplace(record.stream, time);
    return;
  }
  const auto begin = throttled_from_.find(record.stream);
  if (begin == throttled_from_.end()) return;
  add_marker(running.thread, begin->second, time, kThrottled);
  throttled_from_.erase(begin);
}

void Losses::finish() {
  for (const auto& [stream, begin] : throttled_from_) add_marker(ThreadId{}, begin, last_time_, kThrottled);
  throttled_from_.clear();
}

void Losses::add_marker(ThreadId thread, std::uint64_t begin, std::uint64_t end, std::string_view name) {
  const auto duration = end > begin ? static_cast<std::int64_t>(end - begin) : 0;
  profile_.markers.push_back(
      {static_cast<std::int64_t>(begin), duration, thread, MarkerKind::kLost, profile_.strings.intern(name)});
}

}  // namespace nodescope::perf
