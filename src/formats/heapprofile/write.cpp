#include "formats/heapprofile/write.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "formats/cpuprofile/v8_call_frame.h"
#include "json/writer.h"

namespace nodescope {

namespace {

// Nothing if no event counts bytes.
std::optional<EventId> event_to_write(const Profile& profile) {
  const auto found = std::ranges::find(profile.events(), Unit::kBytes, &Event::unit);
  if (found == profile.events().end()) return std::nullopt;
  return EventId{static_cast<std::size_t>(found - profile.events().begin())};
}

class HeapProfileWriter {
 public:
  HeapProfileWriter(const Profile& profile, EventId event, json::Writer& writer)
      : profile_(profile), event_(event), writer_(writer) {}

  void write() {
    add_up_sizes();
    find_children();
    writer_.begin_object().key("head");
    write_tree();
    writer_.line().key("samples").begin_array().end_array();
    writer_.end_object();
  }

 private:
  void add_up_sizes() {
    const SampleTable& samples = profile_.samples;
    sizes_.resize(profile_.stacks.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (samples.context(i).event != event_) continue;
      std::uint64_t& size = sizes_[samples.stack(i).index()];
      if (__builtin_add_overflow(size, samples.weight(i), &size))
        size = std::numeric_limits<std::uint64_t>::max();
    }
  }

  // The children of stack i that matter are children_[first_child_[i]] up to children_[first_child_[i + 1]].
  void find_children() {
    const StackTable& stacks = profile_.stacks;
    std::vector<bool> used(stacks.size());
    first_child_.resize(stacks.size() + 1);
    for (std::size_t i = stacks.size(); i-- > 1;) {
      if (!used[i] && sizes_[i] == 0) continue;
      const std::size_t caller = stacks.caller(StackId{i}).index();
      used[i] = used[caller] = true;
      ++first_child_[caller + 1];
    }
    for (std::size_t i = 1; i < first_child_.size(); ++i) first_child_[i] += first_child_[i - 1];
    children_.resize(first_child_.back());
    std::vector<std::uint32_t> next(first_child_);
    for (std::size_t i = 1; i < stacks.size(); ++i) {
      if (used[i]) children_[next[stacks.caller(StackId{i}).index()]++] = StackId{i};
    }
  }

  void write_tree() {
    struct Open {
      std::uint32_t next_child;
      std::uint32_t end;
    };
    std::vector<Open> open;
    const auto begin = [&](StackId stack) {
      begin_node(stack);
      open.push_back({first_child_[stack.index()], first_child_[stack.index() + 1]});
    };
    begin(kEmptyStack);
    while (!open.empty()) {
      if (Open& innermost = open.back(); innermost.next_child != innermost.end) {
        begin(children_[innermost.next_child++]);
      } else {
        writer_.end_array().end_object();
        open.pop_back();
      }
    }
  }

  void begin_node(StackId stack) {
    writer_.begin_object();
    if (stack == kEmptyStack) {
      write_call_frame(writer_, profile_, NodeRole::kRoot, ThreadId{});
    } else {
      const Frame& frame = profile_.frames[profile_.stacks.frame(stack)];
      write_call_frame(writer_, profile_, frame, std::uint64_t{frame.file.value} + 1);
    }
    writer_.key("selfSize").count(sizes_[stack.index()]);
    writer_.key("id").count(stack.index() + 1);
    writer_.key("children").begin_array();
  }

  const Profile& profile_;
  EventId event_;
  json::Writer& writer_;
  std::vector<std::uint64_t> sizes_;
  std::vector<std::uint32_t> first_child_;
  std::vector<StackId> children_;
};

}  // namespace

Result<void> write_heapprofile(const Profile& profile, const WriteOptions&, ByteSink& sink) {
  const auto event = event_to_write(profile);
  if (!event && profile.samples.size() != 0) {
    return fail(
        ErrorCode::kUsage,
        "a heap profile counts bytes, and nothing in this profile does: write it as cpuprofile, pprof or "
        "speedscope");
  }
  json::Writer writer(sink);
  HeapProfileWriter(profile, event.value_or(EventId{}), writer).write();
  return writer.finish();
}

}  // namespace nodescope
