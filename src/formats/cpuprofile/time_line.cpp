#include "formats/cpuprofile/time_line.h"

#include <algorithm>
#include <limits>

#include "base/flat_map.h"

namespace nodescope {

namespace {

void sort_by_time(std::vector<std::uint32_t>& indices, const SampleTable& samples) {
  if (samples.is_sorted_by_time()) return;
  std::ranges::stable_sort(indices, {}, [&](std::uint32_t i) { return samples.time_ns(i); });
}

}  // namespace

std::vector<std::uint32_t> samples_in_order(const Profile& profile, EventId event) {
  const SampleTable& samples = profile.samples;
  std::vector<std::uint32_t> indices;
  for (std::uint32_t i = 0; i < samples.size(); ++i) {
    if (samples.context(i).event == event) indices.push_back(i);
  }
  sort_by_time(indices, samples);
  return indices;
}

std::vector<ThreadSamples> samples_by_thread(const Profile& profile) {
  const SampleTable& samples = profile.samples;
  std::vector<ThreadSamples> parts;
  FlatMap<std::uint64_t, std::size_t> part_indices;
  std::vector<std::size_t> part_of_context;
  for (const SampleContext& context : samples.contexts()) {
    const std::uint64_t key = std::uint64_t{context.thread.value} << 32 | context.event.value;
    const auto [entry, added] = part_indices.try_emplace(key, parts.size());
    if (added) parts.push_back({context.thread, context.event, {}, 0});
    part_of_context.push_back(entry->second);
  }
  for (std::uint32_t i = 0; i < samples.size(); ++i) {
    ThreadSamples& part = parts[part_of_context[samples.context_id(i).index()]];
    part.samples.push_back(i);
    part.weight += samples.weight(i);
  }
  std::erase_if(parts, [](const ThreadSamples& part) { return part.samples.empty(); });
  for (ThreadSamples& part : parts) sort_by_time(part.samples, samples);
  return parts;
}

std::int64_t TimeLine::distance(std::int64_t from_ns, std::int64_t to_ns) {
  std::int64_t difference = 0;
  return __builtin_sub_overflow(to_ns, from_ns, &difference) ? std::numeric_limits<std::int64_t>::max()
                                                             : difference;
}

TimeLine::Place TimeLine::add(std::int64_t time_ns, std::uint64_t duration_ns) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (empty_) start_ns_ = end_ns_ = time_ns;
  empty_ = false;
  const Place place{end_ns_, std::max(end_ns_, time_ns)};
  const std::uint64_t room = static_cast<std::uint64_t>(kMax) - static_cast<std::uint64_t>(place.start_ns);
  end_ns_ = duration_ns > room
                ? kMax
                : static_cast<std::int64_t>(static_cast<std::uint64_t>(place.start_ns) + duration_ns);
  return place;
}

}  // namespace nodescope
