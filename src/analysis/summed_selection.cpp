#include "analysis/summed_selection.h"

#include <algorithm>
#include <utility>

#include "analysis/group_sums.h"
#include "analysis/label_trie.h"
#include "analysis/sample_filter.h"
#include "analysis/stack_copy.h"

namespace nodescope {

namespace {

class Summer {
 public:
  Summer(const Profile& profile, const Selection& selection, const SumOptions& options)
      : profile_(profile),
        selection_(selection),
        options_(options),
        sums_(profile.stacks.size(), options.by_thread ? profile.threads().size() : 1) {
    const EventId event = *selection.event;
    if (event.index() < profile.events().size()) event_ = profile.event(event);
    counts_weights_ = options.count == CountBy::kWeight || event_.unit == Unit::kSamples;
  }

  SummedSelection run(const SampleFilter& filter) {
    add_samples(filter);
    build_profile();
    return std::move(result_);
  }

 private:
  void add_samples(const SampleFilter& filter) {
    if (can_count()) {
      count_samples(filter);
      return;
    }
    const SampleTable& samples = profile_.samples;
    const auto [begin, end] = filter.sample_range();
    std::uint64_t total = 0;
    for (std::size_t i = begin; i < end; ++i) {
      if (!filter.keeps(i)) continue;
      const std::uint64_t wanted = counts_weights_ ? samples.weight(i) : 1;
      const std::uint64_t weight = std::min(wanted, kMaxTotal - total);
      if (weight < wanted) result_.clipped = true;
      total += weight;
      ++result_.samples;
      sums_.add(samples.stack(i).index(), options_.by_thread ? samples.context(i).thread.index() : 0, weight);
    }
  }

  // Most recordings have samples in the order of time and with one weight: then a sample costs a few
  // instructions, and tens of millions can be summed while a user waits.
  bool can_count() {
    const SampleTable& samples = profile_.samples;
    const bool equal_weights = !counts_weights_ || samples.weights().is_constant();
    const std::uint64_t weight = one_weight();
    return samples.size() != 0 && samples.is_sorted_by_time() && equal_weights && !sums_.group(0).empty() &&
           weight != 0 && samples.size() <= kMaxTotal / weight;
  }

  std::uint64_t one_weight() const {
    return counts_weights_ && profile_.samples.size() != 0 ? profile_.samples.weight(0) : 1;
  }

  void count_samples(const SampleFilter& filter) {
    const SampleTable& samples = profile_.samples;
    const std::vector<SampleContext>& contexts = samples.contexts();
    // Where the sums of each context are; what is not selected goes where nobody looks.
    std::vector<std::uint64_t> elsewhere(profile_.stacks.size());
    std::vector<std::uint64_t*> sums;
    for (std::size_t i = 0; i < contexts.size(); ++i) {
      const std::size_t group = options_.by_thread ? contexts[i].thread.index() : 0;
      sums.push_back(filter.keeps_context(ContextId{i}) ? sums_.group(group).data() : elsewhere.data());
    }
    const auto [begin, end] = filter.sample_range();
    const std::uint64_t weight = one_weight();
    const StackId* const stacks = samples.stacks().data();
    if (samples.context_ids().is_constant()) {
      std::uint64_t* const only = sums[samples.context_id(0).index()];
      for (std::size_t i = begin; i < end; ++i) only[stacks[i].index()] += weight;
    } else {
      const ContextId* const context_ids = samples.context_ids().values().data();
      for (std::size_t i = begin; i < end; ++i) sums[context_ids[i].index()][stacks[i].index()] += weight;
    }
    std::uint64_t left_out = leave_out_stacks(filter);
    for (const std::uint64_t sum : elsewhere) left_out += sum;
    result_.samples = end - begin - left_out / weight;
  }

  // What other stacks than the selected ones have; it is gone then.
  std::uint64_t leave_out_stacks(const SampleFilter& filter) {
    if (filter.keeps_every_stack()) return 0;
    std::uint64_t left_out = 0;
    for (std::size_t group = 0; group < (options_.by_thread ? profile_.threads().size() : 1); ++group) {
      const std::span<std::uint64_t> sums = sums_.group(group);
      for (std::size_t i = 0; i < sums.size(); ++i) {
        if (!filter.keeps_stack(StackId{i})) left_out += std::exchange(sums[i], 0);
      }
    }
    return left_out;
  }

  void build_profile() {
    result_.by_stack.resize(profile_.stacks.size());
    std::vector<bool> sampled(profile_.stacks.size());
    sums_.visit([&](std::size_t stack, std::size_t, std::uint64_t sum) {
      result_.by_stack[stack] += sum;
      sampled[stack] = true;
    });
    Profile& into = result_.profile;
    const Unit unit = counts_weights_ ? event_.unit : Unit::kSamples;
    const EventId event = into.intern_event(profile_.text(event_.name), unit);
    const std::vector<StackId> stacks = copy_selected_stacks(profile_, into, selection_, sampled);
    std::vector<ContextId> contexts;
    for (std::size_t i = 0; i < (options_.by_thread ? profile_.threads().size() : 1); ++i) {
      const ThreadId thread = options_.by_thread ? copy_thread(profile_, ThreadId{i}, into) : ThreadId{};
      contexts.push_back(into.samples.intern({thread, kUnknownCpu, event}));
    }
    sums_.visit([&](std::size_t stack, std::size_t group, std::uint64_t sum) {
      into.samples.add(0, stacks[stack], contexts[group], sum);
    });
  }

  const Profile& profile_;
  const Selection& selection_;
  const SumOptions& options_;
  Event event_;
  bool counts_weights_ = true;
  GroupSums sums_;
  SummedSelection result_;
};

}  // namespace

Result<SummedSelection> derive_sums(const Profile& profile, const Selection& selection,
                                    const SumOptions& options) {
  Selection one_event = one_event_of(profile, selection);
  const auto filter = SampleFilter::build(profile, one_event);
  if (!filter) return std::unexpected(filter.error());
  if (!one_event.event) one_event.event = EventId{};
  return Summer(profile, one_event, options).run(*filter);
}

Result<CauseTotals> derive_cause_totals(const Profile& profile, const Selection& selection, CountBy count) {
  const auto sums = derive_sums(profile, selection, {count, false});
  if (!sums) return std::unexpected(sums.error());
  return sum_causes(derive_causes(profile), sums->by_stack);
}

}  // namespace nodescope
