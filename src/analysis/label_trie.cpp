#include "analysis/label_trie.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace nodescope {

namespace {

constexpr std::uint32_t kUnused = 0;
constexpr std::uint32_t kWaiting = std::numeric_limits<std::uint32_t>::max();

// Adds weights as long as the sum stays below kMaxTotal.
class ClippedSum {
 public:
  // What of `weight` still fits.
  std::uint64_t add(std::uint64_t weight) {
    const std::uint64_t fits = std::min(weight, kMaxTotal - sum_);
    clipped_ = clipped_ || fits < weight;
    sum_ += fits;
    return fits;
  }
  std::uint64_t sum() const { return sum_; }
  bool clipped() const { return clipped_; }

 private:
  std::uint64_t sum_ = 0;
  bool clipped_ = false;
};

// Samples of one event and what each counts.
class EventSamples {
 public:
  EventSamples(const Profile& profile, EventId event, CountBy count) : profile_(profile), event_(event) {
    const bool known = event.index() < profile.events().size();
    count_weights_ = count == CountBy::kWeight || (known && profile.event(event).unit == Unit::kSamples);
    for (const SampleContext& context : profile.samples.contexts()) wanted_.push_back(context.event == event);
  }

  bool has(std::size_t sample) const { return wanted_[profile_.samples.context_id(sample).index()]; }
  std::uint64_t count(std::size_t sample) const {
    return count_weights_ ? profile_.samples.weight(sample) : 1;
  }

 private:
  const Profile& profile_;
  EventId event_;
  bool count_weights_ = true;
  std::vector<bool> wanted_;
};

std::string root_name(const Profile& profile, ThreadId id, RootBy root) {
  const Thread& thread = profile.thread(id);
  const Process& process = profile.process(thread.process);
  std::string_view name = profile.text(thread.name);
  if (name.empty()) name = profile.text(process.name);
  if (name.empty() && process.pid == 0 && thread.tid == 0) return {};
  switch (root) {
    case RootBy::kThreadName:
      return name.empty() ? fmt::format(":{}", thread.tid) : std::string(name);
    case RootBy::kProcess:
      return fmt::format("{}-{}", name, process.pid);
    case RootBy::kThread:
      return fmt::format("{}-{}/{}", name, process.pid, thread.tid);
    case RootBy::kNone:
      break;
  }
  return {};
}

// Samples that share a first frame.
struct RootGroup {
  LabelId label;  // label 0: no first frame
  std::vector<std::uint32_t> samples;
};

class TrieBuilder {
 public:
  TrieBuilder(const Profile& profile, const TrieOptions& options, LabelTable& labels)
      : profile_(profile),
        options_(options),
        labels_(labels),
        samples_(profile, options.event, options.count),
        frame_labels_(labels.add_frames(profile)),
        node_of_(profile.stacks.size(), kUnused) {
    result_.trie.add(0, LabelId{}, {});
  }

  SampledTrie build(Diagnostics& diagnostics) {
    for (RootGroup& group : group_samples()) add_group(group);
    result_.total = sum_.sum();
    if (sum_.clipped()) diagnostics.warn("counts that add up to more than 2^62 were clipped");
    return std::move(result_);
  }

 private:
  std::vector<RootGroup> group_samples() {
    std::vector<RootGroup> groups;
    FlatMap<std::uint64_t, std::size_t> group_of_label;
    std::vector<std::size_t> group_of_context;
    for (const SampleContext& context : profile_.samples.contexts()) {
      const std::string name = root_name(profile_, context.thread, options_.root);
      const LabelId label = name.empty() ? LabelId{} : labels_.add_name(name);
      const auto [entry, added] = group_of_label.try_emplace(label.value, groups.size());
      if (added) groups.push_back({label, {}});
      group_of_context.push_back(entry->second);
    }
    for (std::size_t i = 0; i < profile_.samples.size(); ++i) {
      if (!samples_.has(i)) continue;
      RootGroup& group = groups[group_of_context[profile_.samples.context_id(i).index()]];
      group.samples.push_back(static_cast<std::uint32_t>(i));
    }
    return groups;
  }

  void add_group(RootGroup& group) {
    if (group.samples.empty()) return;
    const std::uint32_t root = group.label == LabelId{} ? 0 : result_.trie.add(0, group.label, {});
    const std::vector<StackId> stacks = collect_stacks(group);
    for (const StackId stack : stacks) {
      const StackId caller = profile_.stacks.caller(stack);
      const FrameId frame_id = profile_.stacks.frame(stack);
      const Frame& frame = profile_.frames[frame_id];
      node_of_[stack.index()] = result_.trie.add(caller == kEmptyStack ? root : node_of_[caller.index()],
                                                 frame_labels_[frame_id.index()],
                                                 {frame.tier, frame.inlined, name_mark_of(profile_, frame)});
    }
    if (options_.keep_sequence) sort_by_time(group);
    for (const std::uint32_t sample : group.samples) {
      const StackId stack = profile_.samples.stack(sample);
      const std::uint32_t node = stack == kEmptyStack ? root : node_of_[stack.index()];
      const std::uint64_t weight = sum_.add(samples_.count(sample));
      result_.trie.self[node] += weight;
      if (options_.keep_sequence && weight > 0) result_.sequence.push_back({node, weight});
    }
    for (const StackId stack : stacks) node_of_[stack.index()] = kUnused;
  }

  // The stacks of a group's samples and all their callers, callers first.
  std::vector<StackId> collect_stacks(const RootGroup& group) {
    std::vector<StackId> stacks;
    for (const std::uint32_t sample : group.samples) {
      StackId stack = profile_.samples.stack(sample);
      while (stack != kEmptyStack && node_of_[stack.index()] == kUnused) {
        node_of_[stack.index()] = kWaiting;
        stacks.push_back(stack);
        stack = profile_.stacks.caller(stack);
      }
    }
    // Ids ascend from caller to callee.  A sweep over all stacks is faster than sorting unless there are few.
    if (stacks.size() < profile_.stacks.size() / 32) {
      std::ranges::sort(stacks);
      return stacks;
    }
    stacks.clear();
    for (std::size_t i = 1; i < node_of_.size(); ++i) {
      if (node_of_[i] == kWaiting) stacks.emplace_back(i);
    }
    return stacks;
  }

  void sort_by_time(RootGroup& group) const {
    if (profile_.samples.is_sorted_by_time()) return;
    std::ranges::stable_sort(group.samples, {},
                             [this](std::uint32_t sample) { return profile_.samples.time_ns(sample); });
  }

  const Profile& profile_;
  const TrieOptions& options_;
  LabelTable& labels_;
  EventSamples samples_;
  std::vector<LabelId> frame_labels_;
  std::vector<std::uint32_t> node_of_;  // of a stack, within the current group
  ClippedSum sum_;
  SampledTrie result_;
};

}  // namespace

std::uint32_t LabelTrie::add(std::uint32_t parent, LabelId label, FrameTraits node_traits) {
  parents.push_back(parent);
  labels.push_back(label);
  traits.push_back(node_traits);
  self.push_back(0);
  return static_cast<std::uint32_t>(parents.size() - 1);
}

SampledTrie build_label_trie(const Profile& profile, const TrieOptions& options, LabelTable& labels,
                             Diagnostics& diagnostics) {
  return TrieBuilder(profile, options, labels).build(diagnostics);
}

std::uint64_t derive_total(const Profile& profile, EventId event, CountBy count) {
  const EventSamples samples(profile, event, count);
  ClippedSum sum;
  for (std::size_t i = 0; i < profile.samples.size(); ++i) {
    if (samples.has(i)) sum.add(samples.count(i));
  }
  return sum.sum();
}

std::vector<std::uint64_t> sum_totals(const LabelTrie& trie, const std::vector<std::uint64_t>& self) {
  std::vector<std::uint64_t> totals = self;
  for (std::size_t i = totals.size(); i-- > 1;) totals[trie.parents[i]] += totals[i];
  return totals;
}

LabelMerger::LabelMerger(bool collapse_recursion) : collapse_recursion_(collapse_recursion) {
  merged_.add(0, LabelId{}, {});
  heaviest_.push_back(0);
}

std::vector<std::uint32_t> LabelMerger::add(const LabelTrie& trie) {
  const std::vector<std::uint64_t> totals = sum_totals(trie, trie.self);
  std::vector<std::uint32_t> node_of(trie.size());
  merged_.self[0] += trie.self[0];
  for (std::size_t i = 1; i < trie.size(); ++i) {
    const std::uint32_t parent = node_of[trie.parents[i]];
    const LabelId label = trie.labels[i];
    std::uint32_t node = parent;
    if (!collapse_recursion_ || parent == 0 || merged_.labels[parent] != label) {
      const std::uint64_t key = std::uint64_t{parent} << 32 | label.value;
      const auto [entry, added] = ids_.try_emplace(key, static_cast<std::uint32_t>(merged_.size()));
      if (added) {
        merged_.add(parent, label, trie.traits[i]);
        heaviest_.push_back(0);
      }
      node = entry->second;
      if (totals[i] > heaviest_[node]) {
        heaviest_[node] = totals[i];
        merged_.traits[node] = trie.traits[i];
      }
    }
    merged_.self[node] += trie.self[i];
    node_of[i] = node;
  }
  return node_of;
}

}  // namespace nodescope
