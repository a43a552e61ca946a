#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "analysis/selection.h"
#include "base/pattern.h"
#include "base/result.h"
#include "model/profile.h"

namespace nodescope {

// Decides sample by sample what is selected; everything that depends on less than the sample is looked up.
class SampleFilter {
 public:
  // Fails with kUsage on a pattern that cannot be understood or an event that is not there.  `profile` must
  // outlive the filter.
  static Result<SampleFilter> build(const Profile& profile, const Selection& selection);

  bool keeps(std::size_t sample) const {
    return keeps_context_[profile_->samples.context_id(sample).index()] != 0 &&
           keeps_stack_[profile_->samples.stack(sample).index()] != 0 &&
           keeps_time(profile_->samples.time_ns(sample));
  }
  bool keeps_time(std::int64_t time_ns) const { return begin_ns_ <= time_ns && time_ns < end_ns_; }
  bool keeps_context(ContextId context) const { return keeps_context_[context.index()] != 0; }
  bool keeps_stack(StackId stack) const { return keeps_stack_[stack.index()] != 0; }
  bool keeps_thread(ThreadId thread) const { return keeps_thread_[thread.index()]; }
  bool keeps_every_stack() const { return keeps_every_stack_; }

  // Samples outside of [first, second) are not selected; those inside may be.  Narrow where samples are
  // sorted by time.
  std::pair<std::size_t, std::size_t> sample_range() const;

 private:
  SampleFilter(const Profile& profile, const Selection& selection, const std::vector<Pattern>& include,
               const std::vector<Pattern>& exclude);

  void choose_times(const Selection& selection);
  void choose_contexts(const Selection& selection);
  void choose_stacks(const Selection& selection, const std::vector<Pattern>& include,
                     const std::vector<Pattern>& exclude);

  const Profile* profile_;
  std::int64_t begin_ns_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t end_ns_ = std::numeric_limits<std::int64_t>::max();
  bool has_time_ = false;
  bool keeps_every_stack_ = false;
  std::vector<bool> keeps_thread_;
  // Bytes, not bits: these are read for every sample.
  std::vector<std::uint8_t> keeps_context_;
  std::vector<std::uint8_t> keeps_stack_;
};

// The time of the earliest sample; 0 without any.
std::int64_t first_time_ns(const Profile& profile);

// `selection` with event 0 where it names none and there is one.
inline Selection one_event_of(const Profile& profile, Selection selection) {
  if (!selection.event && !profile.events().empty()) selection.event = EventId{};
  return selection;
}

// Calls use(i) for the selected samples in the order of time.
void visit_by_time(const Profile& profile, const SampleFilter& filter, const auto& use) {
  const auto [begin, end] = filter.sample_range();
  if (profile.samples.is_sorted_by_time()) {
    for (std::size_t i = begin; i < end; ++i) {
      if (filter.keeps(i)) use(i);
    }
    return;
  }
  std::vector<std::uint32_t> order;
  for (std::size_t i = begin; i < end; ++i) {
    if (filter.keeps(i)) order.push_back(static_cast<std::uint32_t>(i));
  }
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return profile.samples.time_ns(i); });
  for (const std::uint32_t i : order) use(i);
}

// Which stacks have a frame in whose label any of `patterns` is found.
std::vector<std::uint8_t> find_stacks(const Profile& profile, const std::vector<Pattern>& patterns);

}  // namespace nodescope
