#include "formats/cpuprofile/write.h"

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "base/flat_map.h"
#include "formats/cpuprofile/time_line.h"
#include "formats/cpuprofile/v8_call_frame.h"
#include "json/writer.h"

namespace nodescope {

namespace {

constexpr unsigned kMicrosecondDecimals = 3;  // nanoseconds are written as thousandths of a microsecond
constexpr EventId kEvent{};

// Where weights are no times, the time line needs a length for one unit: V8's usual sampling interval for a
// sample, and the smallest one for bytes and counts.
std::uint64_t ns_per_unit(Unit unit) {
  return unit == Unit::kSamples ? 1'000'000 : 1;
}

class CpuProfileWriter {
 public:
  CpuProfileWriter(const Profile& profile, json::Writer& writer) : profile_(profile), writer_(writer) {}

  void write() {
    place_samples();
    writer_.begin_object();
    write_nodes();
    writer_.line().key("startTime").decimal(time_line_.start_ns(), kMicrosecondDecimals);
    writer_.key("endTime").decimal(time_line_.end_ns(), kMicrosecondDecimals);
    write_samples();
    write_extra();
    writer_.end_object();
  }

 private:
  struct Node {
    std::uint32_t parent;
    NodeRole role;
    FrameId frame;
    ThreadId thread;
    std::uint64_t hits = 0;
  };

  void place_samples() {
    const std::vector<std::uint32_t> order = samples_in_order(profile_, kEvent);
    const SampleTable& samples = profile_.samples;
    unit_ = profile_.events().empty() ? Unit::kNanoseconds : profile_.event(kEvent).unit;
    timed_ = std::ranges::any_of(order, [&](std::uint32_t i) { return samples.time_ns(i) != 0; });
    add_root(order);
    samples_.reserve(order.size());
    starts_ns_.reserve(order.size());
    for (const std::uint32_t i : order) {
      const std::uint64_t weight = samples.weight(i);
      std::uint64_t duration_ns = 0;
      if (__builtin_mul_overflow(weight, ns_per_unit(unit_), &duration_ns)) {
        duration_ns = std::numeric_limits<std::uint64_t>::max();
      }
      const TimeLine::Place place = time_line_.add(samples.time_ns(i), duration_ns);
      if (place.gap_start_ns != place.start_ns) add_sample(gap_node(), place.gap_start_ns);
      const std::uint32_t node = node_of(samples.context(i).thread, samples.stack(i));
      nodes_[node].hits += unit_ == Unit::kSamples ? weight : 1;
      add_sample(node, place.start_ns);
    }
  }

  // With samples of one thread the root stands for it; several become nodes below the root.
  void add_root(const std::vector<std::uint32_t>& order) {
    const SampleTable& samples = profile_.samples;
    const ThreadId first = order.empty() ? ThreadId{} : samples.context(order[0]).thread;
    const bool only =
        std::ranges::all_of(order, [&](std::uint32_t i) { return samples.context(i).thread == first; });
    const std::uint32_t root = add_node(0, NodeRole::kRoot, only ? first : ThreadId{});
    if (only) node_ids_.emplace(key_of(first, kEmptyStack), root);
  }

  static std::uint64_t key_of(ThreadId thread, StackId stack) {
    return std::uint64_t{thread.value} << 32 | stack.value;
  }

  std::uint32_t node_of(ThreadId thread, StackId stack) {
    path_.clear();
    auto known = node_ids_.find(key_of(thread, stack));
    while (known == node_ids_.end() && stack != kEmptyStack) {
      path_.push_back(stack);
      stack = profile_.stacks.caller(stack);
      known = node_ids_.find(key_of(thread, stack));
    }
    std::uint32_t node = known == node_ids_.end() ? add_thread(thread) : known->second;
    for (; !path_.empty(); path_.pop_back()) {
      node = add_node(node, NodeRole::kFrame, thread, profile_.stacks.frame(path_.back()));
      node_ids_.emplace(key_of(thread, path_.back()), node);
    }
    return node;
  }

  std::uint32_t add_thread(ThreadId thread) {
    const std::uint32_t node = add_node(0, NodeRole::kThread, thread);
    node_ids_.emplace(key_of(thread, kEmptyStack), node);
    return node;
  }

  std::uint32_t gap_node() {
    if (gap_node_ == 0) gap_node_ = add_node(0, NodeRole::kGap, ThreadId{});
    return gap_node_;
  }

  std::uint32_t add_node(std::uint32_t parent, NodeRole role, ThreadId thread, FrameId frame = {}) {
    nodes_.push_back({parent, role, frame, thread});
    return static_cast<std::uint32_t>(nodes_.size() - 1);
  }

  void add_sample(std::uint32_t node, std::int64_t start_ns) {
    samples_.push_back(node);
    starts_ns_.push_back(start_ns);
  }

  void write_nodes() {
    // The children of node i are children[first_child[i]] up to children[first_child[i + 1]].
    std::vector<std::uint32_t> first_child(nodes_.size() + 1);
    for (std::size_t i = 1; i < nodes_.size(); ++i) ++first_child[nodes_[i].parent + 1];
    for (std::size_t i = 1; i < first_child.size(); ++i) first_child[i] += first_child[i - 1];
    std::vector<std::uint32_t> children(nodes_.size());
    std::vector<std::uint32_t> next(first_child);
    for (std::uint32_t i = 1; i < nodes_.size(); ++i) children[next[nodes_[i].parent]++] = i;

    writer_.key("nodes").begin_array();
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      const std::span<const std::uint32_t> below(&children[first_child[i]],
                                                 first_child[i + 1] - first_child[i]);
      write_node(i, below);
    }
    writer_.end_array();
  }

  void write_node(std::size_t index, std::span<const std::uint32_t> children) {
    const Node& node = nodes_[index];
    writer_.line().begin_object();
    writer_.key("id").count(index + 1);
    if (node.role == NodeRole::kFrame) {
      const Frame& frame = profile_.frames[node.frame];
      write_call_frame(writer_, profile_, frame, std::uint64_t{frame.file.value} + 1);
    } else {
      write_call_frame(writer_, profile_, node.role, node.thread);
    }
    writer_.key("hitCount").count(node.hits);
    if (!children.empty()) {
      writer_.key("children").begin_array();
      for (const std::uint32_t child : children) writer_.count(std::uint64_t{child} + 1);
      writer_.end_array();
    }
    writer_.end_object();
  }

  void write_samples() {
    writer_.line().key("samples").begin_array();
    for (const std::uint32_t node : samples_) writer_.count(std::uint64_t{node} + 1);
    writer_.end_array();
    writer_.line().key("timeDeltas").begin_array();
    std::int64_t last_ns = time_line_.start_ns();
    for (const std::int64_t start_ns : starts_ns_) {
      writer_.decimal(TimeLine::distance(last_ns, start_ns), kMicrosecondDecimals);
      last_ns = start_ns;
    }
    writer_.end_array();
  }

  // Says what the samples are, and that the last one lasts to the end.
  void write_extra() {
    const std::string_view event =
        profile_.events().empty() ? "cpu" : profile_.text(profile_.event(kEvent).name);
    if (samples_.empty()) return;
    writer_.line().key("nodescope").begin_object();
    writer_.key("event").string(event);
    writer_.key("unit").string(to_string(unit_));
    writer_.key("nsPerUnit").count(ns_per_unit(unit_));
    writer_.key("timed").boolean(timed_);
    writer_.end_object();
  }

  const Profile& profile_;
  json::Writer& writer_;
  Unit unit_ = Unit::kNanoseconds;
  bool timed_ = false;
  TimeLine time_line_;
  std::vector<Node> nodes_;  // the root first, callers before callees
  FlatMap<std::uint64_t, std::uint32_t> node_ids_;
  std::uint32_t gap_node_ = 0;
  std::vector<StackId> path_;
  std::vector<std::uint32_t> samples_;
  std::vector<std::int64_t> starts_ns_;
};

}  // namespace

Result<void> write_cpuprofile(const Profile& profile, const WriteOptions&, ByteSink& sink) {
  json::Writer writer(sink);
  CpuProfileWriter(profile, writer).write();
  return writer.finish();
}

}  // namespace nodescope
