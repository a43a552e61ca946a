#include "formats/cpuprofile/profiler_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace nodescope {

namespace {

std::int64_t add_saturating(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

std::uint64_t add_saturating(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<std::uint64_t>::max() : sum;
}

// Well defined for every pair, because `later` is not before `earlier`.
std::uint64_t distance(std::int64_t earlier, std::int64_t later) {
  return static_cast<std::uint64_t>(later) - static_cast<std::uint64_t>(earlier);
}

class SampleBuilder {
 public:
  SampleBuilder(Profile& profile, const V8CallTree& tree, ThreadId thread, EventId event)
      : profile_(profile), tree_(tree), default_thread_(thread), event_(event) {
    set_thread(thread);
  }

  void add(std::uint32_t node_id, std::int64_t time_ns, std::uint64_t weight) {
    const std::uint32_t node = tree_.find(node_id);
    if (node == kNoNode) return add_unknown(node_id, time_ns, weight);
    if (tree_.role(node) == NodeRole::kGap) return;
    const ThreadId named = tree_.thread(node);
    set_thread(named == ThreadId{} ? default_thread_ : named);
    profile_.samples.add(time_ns, tree_.stack(node), context_, weight);
  }

 private:
  void set_thread(ThreadId thread) {
    if (has_context_ && thread == thread_) return;
    thread_ = thread;
    context_ = profile_.samples.intern({thread, kUnknownCpu, event_});
    has_context_ = true;
  }

  void add_unknown(std::uint32_t node_id, std::int64_t time_ns, std::uint64_t weight) {
    profile_.diagnostics.warn("a sample's node does not exist: shown as unknown",
                              fmt::format("node {}", node_id));
    set_thread(default_thread_);
    const StackId unknown = profile_.stacks.push(kEmptyStack, profile_.frames.intern(Frame{}));
    profile_.samples.add(time_ns, unknown, context_, weight);
  }

  Profile& profile_;
  const V8CallTree& tree_;
  ThreadId default_thread_;
  EventId event_;
  ThreadId thread_;
  ContextId context_;
  bool has_context_ = false;
};

void add_hit_counts(Profile& profile, const ProfilerRun& run, ThreadId thread) {
  std::vector<std::uint64_t> weights(profile.stacks.size());
  for (std::uint32_t i = 0; i < run.tree.size(); ++i) {
    std::uint64_t& weight = weights[run.tree.stack(i).index()];
    weight = add_saturating(weight, run.tree.weight(i));
  }
  if (std::ranges::all_of(weights, [](std::uint64_t weight) { return weight == 0; })) return;
  const EventId event = profile.intern_event(run.event, Unit::kSamples);
  const ContextId context = profile.samples.intern({thread, kUnknownCpu, event});
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] != 0) profile.samples.add(0, StackId{i}, context, weights[i]);
  }
}

void add_without_times(Profile& profile, const ProfilerRun& run, ThreadId thread) {
  SampleBuilder builder(profile, run.tree, thread, profile.intern_event(run.event, Unit::kSamples));
  for (const std::uint32_t id : run.samples) builder.add(id, 0, 1);
}

void make_lengths_equal(ProfilerRun& run, Diagnostics& diagnostics) {
  const std::size_t samples = run.samples.size();
  const std::size_t times = run.times_ns.size();
  if (times < samples) {
    diagnostics.add(Severity::kWarning, "samples without a time are taken to be as late as the last one", {},
                    samples - times);
    run.times_ns.resize(samples, run.times_ns.back());
  } else if (times > samples) {
    diagnostics.add(Severity::kWarning, "times without a sample are ignored", {}, times - samples);
    run.times_ns.resize(samples);
  }
}

void sort_by_time(ProfilerRun& run, Diagnostics& diagnostics) {
  auto& times = run.times_ns;
  if (std::ranges::is_sorted(times)) return;
  diagnostics.info("samples were not in the order of time");
  std::vector<std::uint32_t> order(times.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return times[i]; });
  std::vector<std::uint32_t> samples;
  samples.reserve(order.size());
  for (const std::uint32_t i : order) samples.push_back(run.samples[i]);
  run.samples = std::move(samples);
  std::ranges::sort(times);
}

// When the last sample ends.
std::int64_t end_of(const ProfilerRun& run) {
  const auto& times = run.times_ns;
  if (run.last_until_end || times.size() == 1) return std::max(times.back(), run.end_ns);
  const std::uint64_t average = distance(times.front(), times.back()) / (times.size() - 1);
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  return add_saturating(times.back(), static_cast<std::int64_t>(std::min(average, kMax)));
}

void add_with_times(Profile& profile, const ProfilerRun& run, ThreadId thread) {
  SampleBuilder builder(profile, run.tree, thread, profile.intern_event(run.event, run.unit));
  const auto& times = run.times_ns;
  profile.samples.reserve(profile.samples.size() + times.size());
  const std::int64_t end_ns = end_of(run);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const std::int64_t next = i + 1 < times.size() ? times[i + 1] : end_ns;
    const std::uint64_t weight = distance(times[i], next) / run.ns_per_unit;
    builder.add(run.samples[i], run.timed ? times[i] : 0, weight);
  }
}

}  // namespace

std::vector<std::int64_t> add_up(std::vector<std::int64_t> deltas_ns, std::int64_t start_ns) {
  for (std::int64_t& time : deltas_ns) {
    start_ns = add_saturating(start_ns, time);
    time = start_ns;
  }
  return deltas_ns;
}

void build_samples(Profile& profile, ProfilerRun& run, ThreadId thread) {
  run.tree.resolve(profile);
  if (run.samples.empty()) return add_hit_counts(profile, run, thread);
  if (run.times_ns.empty()) return add_without_times(profile, run, thread);
  make_lengths_equal(run, profile.diagnostics);
  sort_by_time(run, profile.diagnostics);
  add_with_times(profile, run, thread);
}

}  // namespace nodescope
