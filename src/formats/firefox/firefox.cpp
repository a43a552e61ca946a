#include "formats/firefox/firefox.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/flat_map.h"
#include "formats/cpuprofile/time_line.h"
#include "formats/firefox/firefox_tables.h"
#include "formats/firefox/read.h"
#include "formats/json_extra.h"
#include "json/sniff.h"
#include "json/writer.h"

namespace nodescope {

namespace {

// The first version in which all threads share their tables, as ours do.  The front end upgrades it to its
// own.
constexpr int kProcessedVersion = 60;
constexpr int kGeckoVersion = 31;  // of the format before processing: has to be there, is not looked at
constexpr unsigned kMillisecondDecimals = 6;
constexpr std::string_view kMarkerType = "nodescope";

std::string_view weight_type(Unit unit) {
  if (unit == Unit::kNanoseconds) return "tracing-ms";
  return unit == Unit::kBytes ? "bytes" : "samples";
}

class FirefoxWriter {
 public:
  FirefoxWriter(const Profile& profile, json::Writer& writer)
      : profile_(profile), writer_(writer), tables_(profile) {}

  void write() {
    collect();
    writer_.begin_object();
    write_meta();
    tables_.write_libraries(writer_);
    writer_.line().key("threads").begin_array();
    for (const ThreadSamples& part : parts_) write_thread(part);
    writer_.end_array();
    tables_.write_shared(writer_);
    for (const std::string_view name : {"pages", "counters", "profilerOverhead"}) {
      writer_.line().key(name).begin_array().end_array();
    }
    writer_.end_object();
  }

 private:
  void collect() {
    parts_ = samples_by_thread(profile_);
    add_threads_with_markers_only();
    const SampleTable& samples = profile_.samples;
    bool first = true;
    for (const ThreadSamples& part : parts_) {
      for (const std::uint32_t i : part.samples) {
        timed_ |= samples.time_ns(i) != 0;
        start_ns_ = first ? samples.time_ns(i) : std::min(start_ns_, samples.time_ns(i));
        first = false;
      }
    }
    for (const Marker& marker : profile_.markers) {
      start_ns_ = first ? marker.time_ns : std::min(start_ns_, marker.time_ns);
      first = false;
    }
  }

  void add_threads_with_markers_only() {
    FlatSet<std::uint64_t> seen;
    for (const ThreadSamples& part : parts_) seen.insert(part.thread.value);
    for (std::size_t i = 0; i < profile_.markers.size(); ++i) {
      const Marker& marker = profile_.markers[i];
      markers_[marker.thread.value].push_back(static_cast<std::uint32_t>(i));
      if (seen.insert(marker.thread.value).second) parts_.push_back({marker.thread, EventId{}, {}, 0});
    }
    // The front end opens no file without a thread.
    if (parts_.empty()) parts_.emplace_back();
  }

  void write_meta() {
    writer_.key("meta").begin_object();
    writer_.key("preprocessedProfileVersion").integer(kProcessedVersion);
    writer_.key("version").integer(kGeckoVersion);
    writer_.key("interval").decimal(interval_ns(), kMillisecondDecimals);
    writer_.key("startTime").decimal(start_on_wall_clock_ns(), kMillisecondDecimals);
    writer_.key("product").string("nodescope");
    writer_.key("importedFrom").string("nodescope");
    writer_.key("processType").integer(0);
    writer_.key("stackwalk").integer(1);
    writer_.key("debug").boolean(false);
    writer_.key("symbolicated").boolean(true);
    writer_.key("symbolicationNotSupported").boolean(true);
    writer_.key("usesOnlyOneStackType").boolean(true);
    writer_.key("sourceCodeIsNotOnSearchfox").boolean(true);
    writer_.key("pausedRanges").begin_array().end_array();
    writer_.key("extensions").begin_object();
    for (const std::string_view name : {"baseURL", "id", "name"}) writer_.key(name).begin_array().end_array();
    writer_.key("length").integer(0).end_object();
    writer_.key("sampleUnits").begin_object();
    writer_.key("time").string("ms").key("eventDelay").string("ms").key("threadCPUDelta").string("ns");
    writer_.end_object();
    writer_.line();
    write_firefox_categories(writer_);
    writer_.line();
    write_marker_schema();
    write_own_times();
    writer_.end_object();
  }

  void write_marker_schema() {
    writer_.key("markerSchema").begin_array().begin_object();
    writer_.key("name").string(kMarkerType);
    writer_.key("tooltipLabel").string("{marker.name}");
    writer_.key("tableLabel").string("{marker.name}");
    writer_.key("chartLabel").string("{marker.name}");
    writer_.key("display").begin_array();
    for (const std::string_view place : {"marker-chart", "marker-table", "timeline-overview"})
      writer_.string(place);
    writer_.end_array();
    writer_.key("fields").begin_array().end_array();
    writer_.end_object().end_array();
  }

  std::int64_t start_on_wall_clock_ns() const {
    std::int64_t time_ns = 0;
    return __builtin_add_overflow(profile_.clock_offset_ns, start_ns_, &time_ns)
               ? 0
               : std::max<std::int64_t>(0, time_ns);
  }

  // The usual distance of two samples of the thread that has the most.
  std::int64_t interval_ns() const {
    constexpr std::int64_t kDefaultNs = 1'000'000;
    const auto& samples =
        std::ranges::max(parts_, {}, [](const ThreadSamples& part) { return part.samples.size(); }).samples;
    std::vector<std::int64_t> distances;
    for (std::size_t i = 1; i < samples.size(); ++i) {
      distances.push_back(
          TimeLine::distance(profile_.samples.time_ns(samples[i - 1]), profile_.samples.time_ns(samples[i])));
    }
    if (!timed_ || distances.empty()) return kDefaultNs;
    const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
    std::ranges::nth_element(distances, middle);
    return *middle == 0 ? kDefaultNs : *middle;
  }

  void write_thread(const ThreadSamples& part) {
    const Thread& thread = profile_.thread(part.thread);
    const Process& process = profile_.process(thread.process);
    writer_.line().begin_object();
    writer_.key("name").string(name_of(part));
    writer_.key("processName").string(profile_.text(process.name));
    writer_.key("processType").string("default");
    writer_.key("isMainThread").boolean(thread.tid == process.pid);
    writer_.key("pid").string(fmt::format("{}", process.pid));
    write_tid(thread.tid);
    writer_.key("processStartupTime").integer(0).key("processShutdownTime").null();
    writer_.key("registerTime").integer(0).key("unregisterTime").null();
    writer_.key("pausedRanges").begin_array().end_array();
    write_samples(part);
    write_markers(part);
    write_extra(part);
    writer_.end_object();
  }

  // What the thread's own members do not say, for when nodescope reads it again.
  void write_extra(const ThreadSamples& part) {
    writer_.line().key(json::kExtraKey).begin_object();
    if (!profile_.events().empty()) {
      const Event& event = profile_.event(part.event);
      writer_.key("event").string(profile_.text(event.name)).key("unit").string(to_string(event.unit));
    }
    writer_.key("thread");
    json::write_thread(writer_, profile_, part.thread);
    writer_.end_object();
  }

  void write_own_times() {
    writer_.line().key(json::kExtraKey).begin_object();
    writer_.key("firstTime").integer(timed_ ? start_ns_ : 0);
    writer_.key("clockOffset").integer(profile_.clock_offset_ns);
    writer_.key("timed").boolean(timed_);
    writer_.end_object();
  }

  std::string name_of(const ThreadSamples& part) const {
    const Thread& thread = profile_.thread(part.thread);
    const Process& process = profile_.process(thread.process);
    std::string name(profile_.text(thread.name == StringId{} ? process.name : thread.name));
    if (name.empty()) name = thread.tid == 0 ? "all threads" : fmt::format("thread {}", thread.tid);
    if (profile_.events().size() > 1)
      name += fmt::format(" ({})", profile_.text(profile_.event(part.event).name));
    return name;
  }

  // Must be different for every thread of the file; a thread that changed its name, or has several events, is
  // several.
  void write_tid(std::int32_t tid) {
    const std::uint32_t before = times_seen_[static_cast<std::uint32_t>(tid)]++;
    writer_.key("tid");
    if (before == 0) {
      writer_.integer(tid);
    } else {
      writer_.string(fmt::format("{}.{}", tid, before));
    }
  }

  void write_samples(const ThreadSamples& part) {
    const SampleTable& samples = profile_.samples;
    const Unit unit = profile_.events().empty() ? Unit::kSamples : profile_.event(part.event).unit;
    writer_.line().key("samples").begin_object();
    writer_.key("weightType").string(weight_type(unit));
    writer_.key("stack").begin_array();
    for (const std::uint32_t i : part.samples) {
      if (samples.stack(i) == kEmptyStack) {
        writer_.null();
      } else {
        writer_.count(samples.stack(i).index() - 1);
      }
    }
    writer_.end_array().line().key("time").begin_array();
    TimeLine time_line;  // only for samples without times: one behind the other
    for (const std::uint32_t i : part.samples) {
      const std::uint64_t duration_ns =
          unit == Unit::kNanoseconds ? samples.weight(i) : kIntervalWithoutTimesNs;
      write_time(timed_ ? samples.time_ns(i) : time_line.add(0, duration_ns).start_ns);
    }
    writer_.end_array().line().key("weight").begin_array();
    for (const std::uint32_t i : part.samples) write_weight(samples.weight(i), unit);
    writer_.end_array();
    writer_.key("length").count(part.samples.size());
    writer_.end_object();
  }

  void write_weight(std::uint64_t weight, Unit unit) {
    constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
    if (unit == Unit::kNanoseconds) {
      writer_.decimal(static_cast<std::int64_t>(std::min(weight, kMax)), kMillisecondDecimals);
    } else {
      writer_.count(weight);
    }
  }

  void write_time(std::int64_t time_ns) {
    writer_.decimal(TimeLine::distance(timed_ ? start_ns_ : 0, time_ns), kMillisecondDecimals);
  }

  // Each thread's markers go to the first of its parts.
  void write_markers(const ThreadSamples& part) {
    const std::vector<std::uint32_t> indices = std::exchange(markers_[part.thread.value], {});
    const auto column = [&](std::string_view name, auto&& write_one) {
      writer_.key(name).begin_array();
      for (const std::uint32_t i : indices) write_one(profile_.markers[i]);
      writer_.end_array();
    };
    writer_.line().key("markers").begin_object();
    column("name", [&](const Marker& marker) { writer_.count(tables_.string_of(marker.name)); });
    column("startTime", [&](const Marker& marker) { write_marker_time(marker.time_ns); });
    column("endTime", [&](const Marker& marker) {
      std::int64_t end_ns = 0;
      const bool overflow = __builtin_add_overflow(marker.time_ns, marker.duration_ns, &end_ns);
      write_marker_time(overflow ? marker.time_ns : end_ns);
    });
    column("phase", [&](const Marker&) { writer_.integer(1); });  // an interval with both ends
    column("category", [&](const Marker& marker) {
      const bool gc = marker.kind == MarkerKind::kGc;
      writer_.count(static_cast<std::uint64_t>(gc ? FirefoxCategory::kGc : FirefoxCategory::kOther));
    });
    column("data",
           [&](const Marker&) { writer_.begin_object().key("type").string(kMarkerType).end_object(); });
    writer_.key("length").count(indices.size());
    writer_.end_object();
  }

  void write_marker_time(std::int64_t time_ns) {
    writer_.decimal(TimeLine::distance(start_ns_, time_ns), kMillisecondDecimals);
  }

  static constexpr std::uint64_t kIntervalWithoutTimesNs = 1'000'000;

  const Profile& profile_;
  json::Writer& writer_;
  FirefoxTables tables_;
  std::vector<ThreadSamples> parts_;
  FlatMap<std::uint64_t, std::vector<std::uint32_t>> markers_;  // by thread
  FlatMap<std::uint64_t, std::uint32_t> times_seen_;            // of a tid
  bool timed_ = false;
  std::int64_t start_ns_ = 0;
};

bool recognise_firefox(std::string_view head) {
  const json::Outline outline = json::outline_of(head);
  return outline.has("meta.preprocessedProfileVersion") || outline.has("shared.frameTable") ||
         outline.has("threads[].frameTable");
}

Result<void> write_firefox(const Profile& profile, const WriteOptions&, ByteSink& sink) {
  json::Writer writer(sink);
  FirefoxWriter(profile, writer).write();
  return writer.finish();
}

}  // namespace

const Format kFirefoxFormat = {
    .name = "firefox",
    .extension = ".firefox.json",
    .description = "Firefox Profiler (profiler.firefox.com) and samply",
    .recognise = recognise_firefox,
    .read = read_firefox,
    .write = write_firefox,
};

}  // namespace nodescope
