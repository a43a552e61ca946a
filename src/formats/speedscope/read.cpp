#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "formats/json_extra.h"
#include "formats/speedscope/evented_stack.h"
#include "formats/speedscope/shared_frames.h"
#include "formats/speedscope/speedscope_io.h"
#include "json/reader.h"

namespace nodescope {

namespace {

constexpr FrameId kNoFrame{0xFFFFFFFF};

struct UnitName {
  std::string_view name;
  Unit unit;
  int decimals;            // from the unit to ours
  std::string_view event;  // what it counts, where the file does not say
};
constexpr std::array kUnits = {
    UnitName{"none", Unit::kSamples, 0, "samples"},
    UnitName{"bytes", Unit::kBytes, 0, "space"},
    UnitName{"nanoseconds", Unit::kNanoseconds, 0, "cpu"},
    UnitName{"microseconds", Unit::kNanoseconds, 3, "cpu"},
    UnitName{"milliseconds", Unit::kNanoseconds, 6, "cpu"},
    UnitName{"seconds", Unit::kNanoseconds, 9, "cpu"},
};

// One of the file's profiles.  Keys come in any order, so nothing is scaled or looked up before its end.
// In an evented profile: what is open from `time` on.
struct Change {
  json::Number time;
  StackId stack;
};

struct RawProfile {
  std::string name;
  std::string unit = "none";
  json::Number start;
  std::optional<json::Number> end;
  std::vector<StackId> stacks;          // sampled
  CompactColumn<json::Number> weights;  // sampled; often all the same
  std::vector<Change> changes;          // evented
  // What nodescope adds.
  std::optional<std::string> event;
  std::optional<Unit> event_unit;
  std::optional<ThreadId> thread;
  std::vector<std::int64_t> times_ns;
};

std::int64_t add_saturating(std::int64_t time, std::uint64_t duration) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  const std::uint64_t room = static_cast<std::uint64_t>(kMax) - static_cast<std::uint64_t>(time);
  return duration > room ? kMax : static_cast<std::int64_t>(static_cast<std::uint64_t>(time) + duration);
}

FrameId to_frame_number(const std::optional<json::Number>& number) {
  const std::int64_t value = number ? number->rounded() : -1;
  return value >= 0 && value < kNoFrame.value ? FrameId{static_cast<std::size_t>(value)} : kNoFrame;
}

class SpeedscopeReader {
 public:
  SpeedscopeReader(ByteSource& source, Progress* progress) : source_(source), reader_(source, progress) {}

  Result<Profile> read() {
    auto members = reader_.object();
    while (const auto key = members.next()) {
      if (*key == "shared") {
        read_shared();
      } else if (*key == "profiles") {
        read_profiles();
      }
    }
    if (const auto finished = reader_.finish(profile_.diagnostics, !raw_profiles_.empty()); !finished) {
      return std::unexpected(finished.error());
    }
    if (raw_profiles_.empty()) {
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("{}: a speedscope file without profiles", source_.name()));
    }
    build();
    return std::move(profile_);
  }

 private:
  void read_shared() {
    auto members = reader_.object();
    while (const auto key = members.next()) {
      if (*key == "frames") frames_.read(reader_, profile_);
    }
  }

  void read_profiles() {
    auto elements = reader_.array();
    while (elements.next()) {
      raw_profiles_.emplace_back();
      auto members = reader_.object();
      while (const auto key = members.next()) read_member(raw_profiles_.back(), *key);
    }
  }

  void read_member(RawProfile& raw, std::string_view key) {
    if (key == "name") {
      raw.name = reader_.string().value_or("");
    } else if (key == "unit") {
      raw.unit = reader_.string().value_or("none");
    } else if (key == "startValue") {
      raw.start = reader_.number().value_or(json::Number{});
    } else if (key == "endValue") {
      raw.end = reader_.number();
    } else if (key == "samples") {
      read_samples(raw);
    } else if (key == "weights") {
      reader_.numbers([&](const auto& weight) { raw.weights.push_back(weight.value_or(json::Number{})); });
    } else if (key == "events") {
      read_events(raw);
    } else if (key == json::kExtraKey) {
      read_extra(raw);
    }
  }

  void read_extra(RawProfile& raw) {
    auto members = reader_.object();
    while (const auto key = members.next()) {
      if (*key == "event") {
        if (const auto name = reader_.string()) raw.event = *name;
      } else if (*key == "unit") {
        if (const auto name = reader_.string()) raw.event_unit = unit_of(*name);
      } else if (*key == "thread") {
        raw.thread = json::read_thread(reader_, profile_);
      } else if (*key == "times") {
        reader_.numbers([&](const auto& time) { raw.times_ns.push_back(time ? time->rounded() : 0); });
      }
    }
  }

  // ---------------------------------------------------------------- stacks of the file: of numbers into its
  // frames

  void read_samples(RawProfile& raw) {
    auto elements = reader_.array();
    while (elements.next()) raw.stacks.push_back(read_stack());
  }

  // A stack is mostly the one before with another end, so what they share is not looked up again.
  StackId read_stack() {
    std::size_t depth = 0;
    reader_.numbers([&](const auto& number) {
      const FrameId frame = to_frame_number(number);
      if (depth < path_.size() && raw_stacks_.frame(path_[depth]) != frame) path_.resize(depth);
      if (depth == path_.size())
        path_.push_back(raw_stacks_.push(depth == 0 ? kEmptyStack : path_.back(), frame));
      ++depth;
    });
    path_.resize(depth);
    return path_.empty() ? kEmptyStack : path_.back();
  }

  void read_events(RawProfile& raw) {
    EventedStack open(raw_stacks_);
    auto elements = reader_.array();
    while (elements.next()) {
      FrameId frame = kNoFrame;
      json::Number time;
      char type = '\0';
      auto members = reader_.object();
      while (const auto key = members.next()) {
        if (*key == "frame") {
          frame = to_frame_number(reader_.number());
        } else if (*key == "at") {
          time = reader_.number().value_or(json::Number{});
        } else if (*key == "type") {
          const auto text = reader_.string();
          type = text && text->size() == 1 ? text->front() : '\0';
        }
      }
      if (reader_.failed()) return;
      if (type == 'O') open.open(frame);
      if (type == 'C') open.close(frame, profile_.diagnostics);
      add_change(raw, time, open.stack());
    }
  }

  static void add_change(RawProfile& raw, const json::Number& time, StackId stack) {
    if (!raw.changes.empty() && raw.changes.back().time == time) {
      raw.changes.back().stack = stack;
    } else {
      raw.changes.push_back({time, stack});
    }
  }

  // ---------------------------------------------------------------- building

  void build() {
    build_stacks();
    for (const RawProfile& raw : raw_profiles_) build_samples(raw);
  }

  void build_stacks() {
    if (const auto frames = plain_frames()) {
      profile_.stacks = std::move(raw_stacks_).with_frames(*frames);
      has_plain_stacks_ = true;
      return;
    }
    stacks_.resize(raw_stacks_.size());
    profile_.stacks.reserve_for(raw_stacks_);
    for (std::size_t i = 1; i < stacks_.size(); ++i) {
      const StackId caller = stacks_[raw_stacks_.caller(StackId{i}).index()];
      const std::size_t number = raw_stacks_.frame(StackId{i}).index();
      if (number >= frames_.size()) {
        profile_.diagnostics.warn("a frame does not exist: shown as unknown",
                                  fmt::format("frame {}", number));
        stacks_[i] = profile_.stacks.push(caller, profile_.frames.intern(Frame{}));
      } else if (const auto frame = frames_[number]) {
        stacks_[i] = profile_.stacks.push(caller, *frame);
      } else {
        stacks_[i] = caller;
      }
    }
  }

  // Frames by their numbers, if that is all there is to do: each stack of the file is one of the profile.
  std::optional<std::vector<FrameId>> plain_frames() const {
    std::vector<FrameId> frames;
    std::vector<bool> taken(profile_.frames.size());
    for (std::size_t i = 0; i < frames_.size(); ++i) {
      if (!frames_[i] || taken[frames_[i]->index()]) return std::nullopt;
      taken[frames_[i]->index()] = true;
      frames.push_back(*frames_[i]);
    }
    for (std::size_t i = 1; i < raw_stacks_.size(); ++i) {
      if (raw_stacks_.frame(StackId{i}).index() >= frames.size()) return std::nullopt;
    }
    return frames;
  }

  StackId stack_of(StackId raw) const { return has_plain_stacks_ ? raw : stacks_[raw.index()]; }

  void build_samples(const RawProfile& raw) {
    auto unit = std::ranges::find(kUnits, raw.unit, &UnitName::name);
    if (unit == kUnits.end()) {
      profile_.diagnostics.warn("a unit is not known: weights count as samples", raw.unit);
      unit = kUnits.begin();
    }
    const EventId event = profile_.intern_event(raw.event.value_or(std::string(unit->event)),
                                                raw.event_unit.value_or(unit->unit));
    const ContextId context = profile_.samples.intern({thread_of(raw), kUnknownCpu, event});
    if (raw.changes.empty()) {
      build_sampled(raw, *unit, context);
    } else {
      if (!raw.stacks.empty())
        profile_.diagnostics.warn("a profile with events and samples: its samples are not read");
      build_evented(raw, *unit, context);
    }
  }

  // The name of a profile is that of a thread as soon as there are several.
  ThreadId thread_of(const RawProfile& raw) {
    if (raw.thread) return *raw.thread;
    if (raw_profiles_.size() == 1) return ThreadId{};
    return profile_.intern_thread(ProcessId{}, 0, raw.name);
  }

  // Samples follow each other without a gap; one without frames stands for the time in which nothing ran.
  void build_sampled(const RawProfile& raw, const UnitName& unit, ContextId context) {
    const std::size_t count = std::min(raw.stacks.size(), raw.weights.size());
    if (raw.stacks.size() != raw.weights.size()) {
      profile_.diagnostics.add(Severity::kWarning,
                               "samples without a weight, or weights without a sample, are not read", {},
                               std::max(raw.stacks.size(), raw.weights.size()) - count);
    }
    profile_.samples.reserve(profile_.samples.size() + count);
    const bool is_time = unit.unit == Unit::kNanoseconds;
    std::int64_t time_ns = is_time ? raw.start.scaled(unit.decimals) : 0;
    std::size_t added = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t weight = weight_of(raw.weights[i], unit);
      if (raw.stacks[i] != kEmptyStack) {
        const std::int64_t at_ns = added < raw.times_ns.size() ? raw.times_ns[added] : time_ns;
        profile_.samples.add(at_ns, stack_of(raw.stacks[i]), context, weight);
        ++added;
      }
      if (is_time) time_ns = add_saturating(time_ns, weight);
    }
  }

  std::uint64_t weight_of(const json::Number& number, const UnitName& unit) {
    if (number.negative && number.digits != 0)
      profile_.diagnostics.warn("a weight below zero counts as zero");
    const std::uint64_t weight = number.as_count(unit.decimals);
    if (unit.unit != Unit::kNanoseconds && number.exponent < 0 &&
        json::Number{weight, 0, false}.as_count(-number.exponent) != number.digits) {
      profile_.diagnostics.warn("fractions of a weight are rounded");
    }
    return weight;
  }

  void build_evented(const RawProfile& raw, const UnitName& unit, ContextId context) {
    std::vector<std::int64_t> times;
    times.reserve(raw.changes.size() + 1);
    for (const Change& change : raw.changes) add_in_order(times, change.time.scaled(unit.decimals));
    add_in_order(times, raw.end ? raw.end->scaled(unit.decimals) : times.back());
    for (std::size_t i = 0; i < raw.changes.size(); ++i) {
      const StackId stack = raw.changes[i].stack;
      const auto weight = static_cast<std::uint64_t>(times[i + 1]) - static_cast<std::uint64_t>(times[i]);
      if (stack == kEmptyStack || weight == 0) continue;
      profile_.samples.add(unit.unit == Unit::kNanoseconds ? times[i] : 0, stack_of(stack), context, weight);
    }
  }

  void add_in_order(std::vector<std::int64_t>& times, std::int64_t time) {
    if (!times.empty() && time < times.back()) {
      profile_.diagnostics.warn("an event is earlier than the one before: taken to be at the same time");
      time = times.back();
    }
    times.push_back(time);
  }

  ByteSource& source_;
  json::Reader reader_;
  Profile profile_;
  SharedFrames frames_;
  StackTable raw_stacks_;
  std::vector<StackId> path_;      // the stack before, from its outermost frame on
  std::vector<StackId> stacks_;    // of the profile, by raw stack
  bool has_plain_stacks_ = false;  // they are the same
  std::vector<RawProfile> raw_profiles_;
};

}  // namespace

Result<Profile> read_speedscope(ByteSource& source, const ReadOptions& options) {
  return SpeedscopeReader(source, options.progress).read();
}

}  // namespace nodescope
