#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>

#include "base/text.h"
#include "formats/otlp/read.h"
#include "formats/pprof/function_name.h"
#include "formats/pprof/units.h"

namespace nodescope::otlp {

namespace {

// The same guard as for pprof: a byte can name a stack of any depth.
constexpr std::uint64_t kMaxFrames = std::uint64_t{1} << 28;

struct Place {
  std::string process;
  std::string thread;
  std::int32_t pid = 0;
  std::int32_t tid = 0;
  std::int32_t cpu = kUnknownCpu;
};

std::uint32_t to_place(std::uint64_t line) {
  return line <= std::numeric_limits<std::uint32_t>::max() ? static_cast<std::uint32_t>(line) : 0;
}

// "profile.frame.type" of OpenTelemetry's conventions.
std::optional<FrameKind> kind_of(std::string_view type) {
  if (type == "v8js") return FrameKind::kJs;
  if (type == "kernel") return FrameKind::kKernel;
  if (type == "native") return FrameKind::kNative;
  return std::nullopt;
}

class Builder {
 public:
  Builder(const Data& data, Profile& profile)
      : data_(data), dictionary_(data.dictionary), profile_(profile) {}

  void run() {
    find_first_lines();
    for (const Location& location : dictionary_.locations) add_location(location);
    stacks_.resize(dictionary_.stacks.size());
    for (std::size_t i = 0; i < stacks_.size(); ++i) stacks_[i] = stack_of(dictionary_.stacks[i]);
    for (const ProfileData& one : data_.profiles) add_profile(one);
  }

 private:
  std::string_view text(std::uint64_t index) {
    if (index < dictionary_.strings.size()) return dictionary_.strings[index];
    if (index != 0) profile_.diagnostics.warn("names that are not in the string table");
    return {};
  }

  const Attribute* attribute(std::uint64_t index) const {
    return index < dictionary_.attributes.size() ? &dictionary_.attributes[index] : nullptr;
  }

  // As in pprof: a function with several executed lines goes by the first of them.
  void find_first_lines() {
    std::vector<bool> has_several(dictionary_.functions.size());
    first_lines_.resize(dictionary_.functions.size());
    for (const Location& location : dictionary_.locations) {
      for (const Line& line : location.lines) {
        const std::uint32_t number = to_place(line.line);
        if (line.function >= first_lines_.size() || number == 0) continue;
        std::uint32_t& first = first_lines_[line.function];
        if (first != 0 && first != number) has_several[line.function] = true;
        first = first == 0 ? number : std::min(first, number);
      }
    }
    for (std::size_t i = 0; i < first_lines_.size(); ++i) {
      if (!has_several[i] || dictionary_.functions[i].start_line != 0) first_lines_[i] = 0;
    }
  }

  void add_location(const Location& location) {
    pprof::FunctionText function;
    if (location.mapping < dictionary_.mappings.size())
      function.module = text(dictionary_.mappings[location.mapping].file);
    const std::optional<FrameKind> kind = kind_of_location(location);
    locations_.emplace_back();
    if (location.lines.empty()) {
      locations_.back().push_back(intern(function, false, kind));
      return;
    }
    for (std::size_t i = location.lines.size(); i-- > 0;) {
      const Line& line = location.lines[i];
      pprof::FunctionText named = function;
      if (line.function < dictionary_.functions.size()) {
        const Function& entry = dictionary_.functions[line.function];
        named.name = text(entry.name);
        named.system_name = text(entry.system_name);
        named.file = text(entry.file);
        named.line = named.function_line = to_place(entry.start_line);
        named.first_line = first_lines_[line.function];
      } else {
        profile_.diagnostics.warn("lines that name no function");
      }
      if (line.line != 0 || line.column != 0) {
        named.line = to_place(line.line);
        named.column = to_place(line.column);
      }
      locations_.back().push_back(intern(named, i + 1 != location.lines.size(), kind));
    }
  }

  std::optional<FrameKind> kind_of_location(const Location& location) {
    for (const std::uint64_t index : location.attributes) {
      const Attribute* const found = attribute(index);
      if (found != nullptr && text(found->key) == "profile.frame.type") return kind_of(found->value);
    }
    return std::nullopt;
  }

  FrameId intern(const pprof::FunctionText& function, bool inlined, std::optional<FrameKind> kind) {
    Frame frame = pprof::frame_of_function(profile_, function, inlined);
    const bool is_plain = frame.kind == FrameKind::kUnknown || frame.kind == FrameKind::kNative;
    if (kind && is_plain) frame.kind = *kind;
    return profile_.frames.intern(frame);
  }

  StackId stack_of(const std::vector<std::uint64_t>& locations) {
    StackId stack = kEmptyStack;
    for (auto index = locations.rbegin(); index != locations.rend(); ++index) {
      if (*index >= locations_.size()) {
        profile_.diagnostics.warn("frames that name no location");
        stack = profile_.stacks.push(stack, profile_.frames.intern(Frame{}));
        continue;
      }
      frames_ += locations_[*index].size();
      if (frames_ > kMaxFrames) {
        profile_.diagnostics.error("frames beyond what the file can mean are left out");
        return stack;
      }
      for (const FrameId frame : locations_[*index]) stack = profile_.stacks.push(stack, frame);
    }
    return stack;
  }

  void add_profile(const ProfileData& one) {
    const std::string_view type = text(one.sample_type.type);
    const std::string_view unit_text = text(one.sample_type.unit);
    const pprof::ScaledUnit unit = pprof::unit_of_text(type, unit_text);
    const EventId event = profile_.intern_event(type.empty() ? "samples" : type, unit.unit);
    Place place;
    if (one.resource < data_.resources.size()) {
      for (const Attribute& entry : data_.resources[one.resource]) {
        add_to(place, entry.name.empty() ? text(entry.key) : std::string_view(entry.name), entry.value);
        add_fact(entry.name, entry.value);
      }
    }
    for (const Sample& sample : one.samples) add_sample(sample, one, unit, event, place);
  }

  void add_fact(std::string_view name, const std::string& value) {
    if (name == "service.name") profile_.facts.try_emplace("service", value);
    if (name == "host.name") profile_.facts.try_emplace("host", value);
  }

  static void add_to(Place& place, std::string_view key, const std::string& value) {
    const auto number = [&] { return parse_number<std::int32_t>(value).value_or(0); };
    if (key == "process.pid") place.pid = number();
    if (key == "thread.id") place.tid = number();
    if (key == "thread.name") place.thread = value;
    if (key == "cpu.logical_number") place.cpu = number();
    const bool names_process =
        key == "process.executable.name" || (key == "service.name" && place.process.empty());
    if (names_process) place.process = value;
  }

  void add_sample(const Sample& sample, const ProfileData& one, const pprof::ScaledUnit& unit, EventId event,
                  Place place) {
    for (const std::uint64_t index : sample.attributes) {
      if (const Attribute* const found = attribute(index)) add_to(place, text(found->key), found->value);
    }
    const ProcessId process = profile_.intern_process(place.pid, place.process);
    const ThreadId thread = profile_.intern_thread(process, place.tid, place.thread);
    const ContextId context = profile_.samples.intern({thread, place.cpu, event});
    if (sample.stack >= stacks_.size())
      profile_.diagnostics.warn("a sample's stack does not exist: shown without one");
    const StackId stack = sample.stack < stacks_.size() ? stacks_[sample.stack] : kEmptyStack;
    const auto weight_of = [&](std::int64_t value) {
      if (value < 0) profile_.diagnostics.warn("negative values are left out");
      std::uint64_t weight = 0;
      const bool too_large = __builtin_mul_overflow(
          static_cast<std::uint64_t>(std::max<std::int64_t>(0, value)), unit.factor, &weight);
      return too_large ? std::numeric_limits<std::uint64_t>::max() : weight;
    };
    // Each time has its value; without values each counts one, of what the period is.
    if (!sample.times.empty() && (sample.values.empty() || sample.values.size() == sample.times.size())) {
      for (std::size_t i = 0; i < sample.times.size(); ++i) {
        const std::int64_t value = sample.values.empty() ? count_of_one(one) : sample.values[i];
        profile_.samples.add(time_of(sample.times[i]), stack, context, weight_of(value));
      }
      return;
    }
    const std::int64_t time = sample.times.empty() ? 0 : time_of(sample.times.front());
    for (const std::int64_t value : sample.values)
      profile_.samples.add(time, stack, context, weight_of(value));
  }

  // The period is how much lies between two samples where it is of the samples' own type.
  std::int64_t count_of_one(const ProfileData& one) {
    const bool same = one.period > 0 && text(one.period_type.unit) == text(one.sample_type.unit) &&
                      text(one.period_type.type) == text(one.sample_type.type);
    return same ? one.period : 1;
  }

  // Counted from the first; its place on the wall clock is the profile's.
  std::int64_t time_of(std::uint64_t time) {
    constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
    const auto since_1970 = static_cast<std::int64_t>(std::min(time, kMax));
    if (!first_time_) {
      first_time_ = since_1970;
      profile_.clock_offset_ns = since_1970;
    }
    return since_1970 - *first_time_;
  }

  const Data& data_;
  const Dictionary& dictionary_;
  Profile& profile_;
  std::vector<std::uint32_t> first_lines_;       // by function; 0: there is but one, or its beginning
  std::vector<std::vector<FrameId>> locations_;  // callers first
  std::vector<StackId> stacks_;
  std::uint64_t frames_ = 0;
  std::optional<std::int64_t> first_time_;
};

}  // namespace

void build(const Data& data, Profile& profile) {
  Builder(data, profile).run();
}

}  // namespace nodescope::otlp
