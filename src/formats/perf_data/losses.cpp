#include "formats/perf_data/losses.h"

#include <fmt/format.h>

#include <algorithm>

namespace nodescope::perf {

namespace {

constexpr std::string_view kThrottled = "throttled";

}  // namespace

// Null where it is not known, or has no samples beside which the marker could be shown.
ThreadState* Losses::thread_of(const RecordOrigin& origin) {
  if (!origin.pid || !origin.tid || *origin.pid < 0 || *origin.tid < 0) return nullptr;
  ThreadState& thread = processes_.thread(*origin.pid, *origin.tid);
  return thread.last_sample_time != 0 ? &thread : nullptr;
}

void Losses::add(const RecordOrigin& origin, std::uint64_t time, std::uint64_t count) {
  ThreadState* const thread = thread_of(origin);
  std::uint64_t begin = thread != nullptr ? thread->last_sample_time : time;
  if (origin.cpu && *origin.cpu < last_times_.size() && last_times_[*origin.cpu] != 0)
    begin = last_times_[*origin.cpu];
  add_marker(thread, begin, time, fmt::format("{} lost", count));
}

void Losses::throttle(std::uint64_t stream, std::uint64_t time) {
  if (time != 0) throttled_from_.try_emplace(stream, time);
}

void Losses::unthrottle(const RecordOrigin& origin, std::uint64_t stream, std::uint64_t time) {
  const auto begin = throttled_from_.find(stream);
  if (begin == throttled_from_.end()) return;
  add_marker(thread_of(origin), begin->second, time, kThrottled);
  throttled_from_.erase(begin);
}

void Losses::finish() {
  for (const auto& [stream, begin] : throttled_from_) add_marker(nullptr, begin, last_time_, kThrottled);
  std::ranges::stable_sort(profile_.markers, {}, &Marker::time_ns);
}

void Losses::add_marker(ThreadState* thread, std::uint64_t begin, std::uint64_t end, std::string_view name) {
  const ThreadId id = thread != nullptr ? processes_.model_thread(*thread) : ThreadId{};
  const auto duration = end > begin ? static_cast<std::int64_t>(end - begin) : 0;
  profile_.markers.push_back(
      {static_cast<std::int64_t>(begin), duration, id, MarkerKind::kLost, profile_.strings.intern(name)});
}

}  // namespace nodescope::perf
