#include "app/recording_sums.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace nodescope {

void RecordingSums::add(const Profile& profile) {
  turns_.add(profile);
  const SampleTable& samples = profile.samples;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Sample sample = samples[i];
    ++samples_;
    if (sample.context.event == EventId{}) ++of_first_event_;
    if (!first_) {
      first_ = sample;
      continue;
    }
    Sum& sum = sums_[{sample.stack, sample.context.thread, sample.context.event}];
    sum.weight += sample.weight;
    sum.last_time_ns = std::max(sum.last_time_ns, sample.time_ns);
  }
}

Accounting RecordingSums::accounting(const Profile& profile) const {
  return {.taken = samples_ + profile.lost_samples,
          .shown = of_first_event_,
          .other_events = samples_ - of_first_event_,
          .lost = profile.lost_samples};
}

void RecordingSums::put_into(Profile& profile) const {
  if (!first_) return;
  profile.samples.add(*first_);
  std::vector<Sample> sums;
  sums.reserve(sums_.size());
  for (const auto& [key, sum] : sums_)
    sums.push_back({sum.last_time_ns, key.stack, {key.thread, kUnknownCpu, key.event}, sum.weight});
  // Whatever the order in the table.
  std::ranges::sort(sums, {},
                    [](const Sample& sample) { return std::pair(sample.time_ns, sample.stack.value); });
  for (const Sample& sample : sums) profile.samples.add(sample);
}

}  // namespace nodescope
