#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "formats/cpuprofile/time_line.h"
#include "formats/json_extra.h"
#include "formats/speedscope/speedscope_io.h"
#include "json/writer.h"

namespace nodescope {

namespace {

constexpr std::string_view kSchema = "https://www.speedscope.app/file-format-schema.json";

std::string_view unit_name(Unit unit) {
  if (unit == Unit::kNanoseconds) return "nanoseconds";
  return unit == Unit::kBytes ? "bytes" : "none";
}

class SpeedscopeWriter {
 public:
  SpeedscopeWriter(const Profile& profile, json::Writer& writer) : profile_(profile), writer_(writer) {}

  void write() {
    collect_parts();
    writer_.begin_object();
    writer_.key("$schema").string(kSchema);
    writer_.key("exporter").string("nodescope");
    writer_.line().key("shared").begin_object();
    write_frames();
    writer_.end_object();
    writer_.line().key("activeProfileIndex").count(heaviest_part());
    writer_.line().key("profiles").begin_array();
    for (const ThreadSamples& part : parts_) write_part(part);
    writer_.end_array();
    writer_.end_object();
  }

 private:
  void collect_parts() {
    parts_ = samples_by_thread(profile_);
    // The first event stays the first, whichever was sampled first.
    std::ranges::stable_sort(parts_, {}, [](const ThreadSamples& part) { return part.event.value; });
    // speedscope opens no file without a profile.
    if (parts_.empty()) parts_.emplace_back();
    const auto has_no_frames = [&](std::uint32_t i) { return profile_.samples.stack(i) == kEmptyStack; };
    has_empty_stack_ = std::ranges::any_of(
        parts_, [&](const ThreadSamples& part) { return std::ranges::any_of(part.samples, has_no_frames); });
  }

  std::size_t heaviest_part() const {
    const EventId event = parts_.front().event;
    std::size_t heaviest = 0;
    for (std::size_t i = 1; i < parts_.size(); ++i) {
      if (parts_[i].event == event && parts_[i].weight > parts_[heaviest].weight) heaviest = i;
    }
    return heaviest;
  }

  void write_frames() {
    writer_.key("frames").begin_array();
    for (std::size_t i = 0; i < profile_.frames.size(); ++i) write_frame(profile_.frames[FrameId{i}]);
    if (has_empty_stack_) {
      writer_.line().begin_object();
      writer_.key("name").string("[no stack]");
      writer_.key(json::kExtraKey).begin_object().key("empty").boolean(true).end_object();
      writer_.end_object();
    }
    writer_.end_array();
  }

  void write_frame(const Frame& frame) {
    const bool unnamed = frame.function == StringId{};
    writer_.line().begin_object();
    if (unnamed) {
      writer_.key("name").string(frame.kind == FrameKind::kJs ? "(anonymous)" : "[unknown]");
    } else {
      writer_.key("name").string(profile_.text(frame.function));
    }
    if (frame.file != StringId{}) writer_.key("file").string(profile_.text(frame.file));
    if (frame.line != 0) writer_.key("line").count(frame.line);
    if (frame.column != 0) writer_.key("col").count(frame.column);
    writer_.key(json::kExtraKey).begin_object();
    json::write_frame_extra(writer_, profile_, frame);
    if (unnamed) writer_.key("unnamed").boolean(true);
    writer_.end_object();
    writer_.end_object();
  }

  void write_part(const ThreadSamples& part) {
    const Unit unit = profile_.events().empty() ? Unit::kSamples : profile_.event(part.event).unit;
    const bool is_time = unit == Unit::kNanoseconds;
    TimeLine time_line;
    std::vector<TimeLine::Place> places;
    places.reserve(part.samples.size());
    bool times_are_implied = true;
    for (const std::uint32_t i : part.samples) {
      const std::int64_t time_ns = profile_.samples.time_ns(i);
      places.push_back(time_line.add(is_time ? time_ns : 0, profile_.samples.weight(i)));
      times_are_implied &= is_time ? places.back().start_ns == time_ns : time_ns == 0;
    }
    writer_.line().begin_object();
    writer_.key("type").string("sampled");
    writer_.key("name").string(name_of(part));
    writer_.key("unit").string(unit_name(unit));
    writer_.key("startValue").integer(time_line.start_ns());
    writer_.key("endValue").integer(time_line.end_ns());
    write_extra(part, unit, times_are_implied);
    write_samples(part, places);
    write_weights(part, places);
    writer_.end_object();
  }

  std::string name_of(const ThreadSamples& part) const {
    const Thread& thread = profile_.thread(part.thread);
    const Process& process = profile_.process(thread.process);
    std::string name(profile_.text(thread.name == StringId{} ? process.name : thread.name));
    if (thread.tid != 0) name += fmt::format("{}{}", name.empty() ? "thread " : " ", thread.tid);
    const std::string_view event =
        profile_.events().empty() ? "" : profile_.text(profile_.event(part.event).name);
    if (name.empty() || profile_.events().size() > 1)
      name += fmt::format("{}{}", name.empty() ? "" : " ", event);
    return name;
  }

  void write_extra(const ThreadSamples& part, Unit unit, bool times_are_implied) {
    writer_.key(json::kExtraKey).begin_object();
    if (!profile_.events().empty()) {
      writer_.key("event").string(profile_.text(profile_.event(part.event).name));
      writer_.key("unit").string(to_string(unit));
    }
    writer_.key("thread");
    json::write_thread(writer_, profile_, part.thread);
    if (!times_are_implied) {
      writer_.key("times").begin_array();
      for (const std::uint32_t i : part.samples) writer_.integer(profile_.samples.time_ns(i));
      writer_.end_array();
    }
    writer_.end_object();
  }

  void write_samples(const ThreadSamples& part, const std::vector<TimeLine::Place>& places) {
    writer_.line().key("samples").begin_array();
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (places[i].gap_start_ns != places[i].start_ns) writer_.begin_array().end_array();
      write_stack(profile_.samples.stack(part.samples[i]));
    }
    writer_.end_array();
  }

  void write_stack(StackId stack) {
    path_.clear();
    for (; stack != kEmptyStack; stack = profile_.stacks.caller(stack))
      path_.push_back(profile_.stacks.frame(stack));
    writer_.begin_array();
    if (path_.empty()) writer_.count(profile_.frames.size());
    for (auto frame = path_.rbegin(); frame != path_.rend(); ++frame) writer_.count(frame->value);
    writer_.end_array();
  }

  void write_weights(const ThreadSamples& part, const std::vector<TimeLine::Place>& places) {
    writer_.line().key("weights").begin_array();
    for (std::size_t i = 0; i < places.size(); ++i) {
      const auto [gap_start_ns, start_ns] = places[i];
      if (gap_start_ns != start_ns) writer_.integer(TimeLine::distance(gap_start_ns, start_ns));
      writer_.count(profile_.samples.weight(part.samples[i]));
    }
    writer_.end_array();
  }

  const Profile& profile_;
  json::Writer& writer_;
  std::vector<ThreadSamples> parts_;
  bool has_empty_stack_ = false;
  std::vector<FrameId> path_;
};

}  // namespace

Result<void> write_speedscope(const Profile& profile, const WriteOptions&, ByteSink& sink) {
  json::Writer writer(sink);
  SpeedscopeWriter(profile, writer).write();
  return writer.finish();
}

}  // namespace nodescope
