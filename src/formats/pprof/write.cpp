#include <algorithm>
#include <limits>
#include <optional>
#include <protozero/pbf_builder.hpp>

#include "base/path.h"
#include "base/text.h"
#include "formats/pprof/labels.h"
#include "formats/pprof/location_table.h"
#include "formats/pprof/messages.h"
#include "formats/pprof/pprof.h"
#include "formats/pprof/run_index.h"
#include "formats/pprof/units.h"

namespace nodescope::pprof {

namespace {

template <typename Field>
using Builder = protozero::pbf_builder<Field>;

constexpr std::size_t kFlushBytes = 256 * 1024;

std::int64_t to_i64(std::uint64_t value) {
  return static_cast<std::int64_t>(
      std::min<std::uint64_t>(value, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())));
}

// "12.5 s" as nanoseconds.
std::optional<std::int64_t> parse_seconds(std::string_view text) {
  if (!text.ends_with(" s")) return std::nullopt;
  text.remove_suffix(2);
  const std::size_t point = std::min(text.find('.'), text.size());
  const auto whole = parse_number<std::uint32_t>(text.substr(0, point));
  std::string fraction(text.substr(std::min(point + 1, text.size())));
  if (!whole || fraction.size() > 9) return std::nullopt;
  fraction.resize(9, '0');
  const auto nanoseconds = parse_number<std::uint32_t>(fraction);
  if (!nanoseconds) return std::nullopt;
  return std::int64_t{*whole} * 1'000'000'000 + *nanoseconds;
}

// Not a library, the kernel, the code of a just-in-time compiler or anonymous memory.
bool names_a_program(std::string_view module) {
  const std::string_view base = file_name_of(module);
  const bool library = base.ends_with(".so") || base.find(".so.") != std::string_view::npos;
  return !library && module.starts_with('/') && !module.starts_with("//") && !base.starts_with("perf-") &&
         !base.starts_with("jitted-");
}

struct Period {
  std::int64_t value = 0;
  std::string_view unit;
  std::string_view type;
};

// "10000000 nanoseconds of cpu".
std::optional<Period> parse_period(std::string_view text) {
  const std::size_t space = text.find(' ');
  const std::size_t of = text.find(" of ");
  if (space == std::string_view::npos || of == std::string_view::npos || of < space) return std::nullopt;
  const auto value = parse_number<std::int64_t>(text.substr(0, space));
  if (!value || *value <= 0) return std::nullopt;
  return Period{*value, of == space ? "" : text.substr(space + 1, of - space - 1), text.substr(of + 4)};
}

class Writer {
 public:
  Writer(const Profile& profile, ByteSink& sink)
      : profile_(profile), sink_(sink), message_(buffer_), locations_(profile, strings_) {}

  Result<void> run();

 private:
  // What a sample of pprof holds: the values of all events at one place and time.
  struct Pending {
    StackId stack;
    std::uint32_t place = 0;
    std::size_t first_value = 0;
  };
  struct Place {
    ThreadId thread;
    std::int32_t cpu = kUnknownCpu;
  };

  void write_sample_types();
  Result<void> write_samples();
  Result<void> flush_pending();
  void write_sample(const Pending& pending);
  void write_label(Builder<SampleField>& sample, std::string_view key, std::int64_t number,
                   std::string_view unit = "");
  void write_label(Builder<SampleField>& sample, std::string_view key, std::string_view text);
  Result<void> write_tables();
  void write_mappings();
  void write_mapping(std::size_t place);
  void write_facts();
  void write_fact(const std::string& key, const std::string& value);
  void write_comment(std::string_view key, std::string_view value);
  void write_text(ProfileField field, std::string_view text);
  void write_value_type(ProfileField field, std::string_view type, std::string_view unit);
  std::uint32_t place_of(ContextId context);
  std::size_t column_of(EventId event) const;
  Result<void> flush(bool all);

  const Profile& profile_;
  ByteSink& sink_;
  std::string buffer_;
  Builder<ProfileField> message_;
  StringWriter strings_;
  LocationTable locations_;

  std::int64_t pending_time_ = 0;
  std::vector<Pending> pending_;
  std::vector<std::uint64_t> pending_values_;
  RunIndex pending_index_;  // by stack and place
  std::vector<Place> places_;
  std::vector<std::uint32_t> place_of_context_;
  std::vector<std::uint64_t> location_ids_;
  bool has_times_ = false;
  std::int64_t first_time_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_time_ = std::numeric_limits<std::int64_t>::min();
};

Result<void> Writer::run() {
  write_sample_types();
  if (auto written = write_samples(); !written) return written;
  if (auto written = write_tables(); !written) return written;
  write_facts();
  for (const std::string& text : strings_.all()) {
    message_.add_string(ProfileField::kStringTable, text);
    if (auto flushed = flush(false); !flushed) return flushed;
  }
  return flush(true);
}

// Event 0 comes last: that is the one which pprof shows.
void Writer::write_sample_types() {
  const auto& events = profile_.events();
  const auto write_event = [&](const Event& event) {
    const std::string_view name = profile_.text(event.name);
    write_value_type(ProfileField::kSampleType, name, text_of_unit(name, event.unit));
  };
  if (events.empty()) write_value_type(ProfileField::kSampleType, "samples", "count");
  for (std::size_t i = 1; i < events.size(); ++i) write_event(events[i]);
  if (events.empty()) return;
  write_event(events[0]);
  const auto same_name = std::ranges::count(events, events[0].name, &Event::name);
  if (same_name == 1) write_text(ProfileField::kDefaultSampleType, profile_.text(events[0].name));
}

std::size_t Writer::column_of(EventId event) const {
  return event.index() == 0 ? profile_.events().size() - 1 : event.index() - 1;
}

// Samples of the same time, stack and thread that follow each other become one, as pprof wants it: in a
// profile without times that is all equal ones.
Result<void> Writer::write_samples() {
  const SampleTable& samples = profile_.samples;
  const std::size_t columns = profile_.events().size();
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::int64_t time = samples.time_ns(i);
    if (time != pending_time_ || pending_values_.size() >= kLongestRun) {
      if (auto flushed = flush_pending(); !flushed) return flushed;
      pending_time_ = time;
    }
    const std::uint32_t place = place_of(samples.context_id(i));
    const std::uint64_t key = std::uint64_t{samples.stack(i).value} << 32 | place;
    const std::size_t index = pending_index_.place_of(key, pending_.size());
    if (index == pending_.size()) {
      pending_.push_back({samples.stack(i), place, pending_values_.size()});
      pending_values_.resize(pending_values_.size() + columns);
    }
    std::uint64_t& value = pending_values_[pending_[index].first_value + column_of(samples.context(i).event)];
    value += std::min(samples.weight(i), std::numeric_limits<std::uint64_t>::max() - value);
  }
  return flush_pending();
}

Result<void> Writer::flush_pending() {
  for (const Pending& pending : pending_) {
    write_sample(pending);
    if (auto flushed = flush(false); !flushed) return flushed;
  }
  if (!pending_.empty()) {
    has_times_ = has_times_ || pending_time_ != 0;
    first_time_ = std::min(first_time_, pending_time_);
    last_time_ = std::max(last_time_, pending_time_);
  }
  pending_.clear();
  pending_values_.clear();
  pending_index_.clear();
  return {};
}

void Writer::write_sample(const Pending& pending) {
  Builder<SampleField> sample(message_, ProfileField::kSample);
  locations_.unwind(pending.stack, location_ids_);
  sample.add_packed_uint64(SampleField::kLocationId, location_ids_.begin(), location_ids_.end());
  {
    protozero::packed_field_int64 values(sample, static_cast<protozero::pbf_tag_type>(SampleField::kValue));
    for (std::size_t i = 0; i < profile_.events().size(); ++i) {
      values.add_element(to_i64(pending_values_[pending.first_value + i]));
    }
  }
  const Place& place = places_[pending.place];
  const Thread& thread = profile_.thread(place.thread);
  const Process& process = profile_.process(thread.process);
  if (process.pid != 0) write_label(sample, kPidLabel, process.pid);
  write_label(sample, kProcessNameLabel, profile_.text(process.name));
  if (thread.tid != 0) write_label(sample, kTidLabel, thread.tid);
  write_label(sample, kThreadNameLabel, profile_.text(thread.name));
  if (place.cpu != kUnknownCpu) write_label(sample, kCpuLabel, place.cpu);
  if (pending_time_ != 0) write_label(sample, kTimeLabel, pending_time_, "nanoseconds");
}

void Writer::write_label(Builder<SampleField>& sample, std::string_view key, std::int64_t number,
                         std::string_view unit) {
  Builder<LabelField> label(sample, SampleField::kLabel);
  label.add_int64(LabelField::kKey, to_i64(strings_.intern(key)));
  label.add_int64(LabelField::kNum, number);
  if (!unit.empty()) label.add_int64(LabelField::kNumUnit, to_i64(strings_.intern(unit)));
}

void Writer::write_label(Builder<SampleField>& sample, std::string_view key, std::string_view text) {
  if (text.empty()) return;
  Builder<LabelField> label(sample, SampleField::kLabel);
  label.add_int64(LabelField::kKey, to_i64(strings_.intern(key)));
  label.add_int64(LabelField::kStr, to_i64(strings_.intern(text)));
}

// pprof takes the first one for the program's own.
void Writer::write_mappings() {
  const auto& mappings = locations_.mappings();
  const auto is_program = [&](const WrittenMapping& mapping) {
    return names_a_program(strings_.all()[static_cast<std::size_t>(mapping.file)]);
  };
  const auto program = std::ranges::find_if(mappings, is_program);
  if (program != mappings.end()) write_mapping(static_cast<std::size_t>(program - mappings.begin()));
  for (std::size_t i = 0; i < mappings.size(); ++i) {
    if (program == mappings.end() || &mappings[i] != &*program) write_mapping(i);
  }
}

void Writer::write_mapping(std::size_t place) {
  const WrittenMapping& mapping = locations_.mappings()[place];
  Builder<MappingField> message(message_, ProfileField::kMapping);
  message.add_uint64(MappingField::kId, place + 1);
  message.add_uint64(MappingField::kMemoryStart, mapping.start);
  message.add_uint64(MappingField::kMemoryLimit, mapping.limit);
  message.add_uint64(MappingField::kFileOffset, mapping.file_offset);
  message.add_int64(MappingField::kFilename, to_i64(mapping.file));
  message.add_int64(MappingField::kBuildId, to_i64(mapping.build_id));
  // Names are resolved already, so that pprof does not look for the binary.
  message.add_bool(MappingField::kHasFunctions, true);
  message.add_bool(MappingField::kHasFilenames, true);
  message.add_bool(MappingField::kHasLineNumbers, true);
  message.add_bool(MappingField::kHasInlineFrames, true);
}

Result<void> Writer::write_tables() {
  write_mappings();
  std::uint64_t id = 0;
  for (const WrittenLocation& location : locations_.locations()) {
    {
      Builder<LocationField> message(message_, ProfileField::kLocation);
      message.add_uint64(LocationField::kId, ++id);
      if (location.mapping_id != 0) message.add_uint64(LocationField::kMappingId, location.mapping_id);
      for (std::size_t i = 0; i < location.line_count; ++i) {
        const WrittenLine& line = locations_.lines()[location.first_line + i];
        Builder<LineField> line_message(message, LocationField::kLine);
        line_message.add_uint64(LineField::kFunctionId, line.function_id);
        if (line.line != 0) line_message.add_int64(LineField::kLine, line.line);
        if (line.column != 0) line_message.add_int64(LineField::kColumn, line.column);
      }
    }
    if (auto flushed = flush(false); !flushed) return flushed;
  }
  id = 0;
  for (const WrittenFunction& function : locations_.functions()) {
    {
      Builder<FunctionField> message(message_, ProfileField::kFunction);
      message.add_uint64(FunctionField::kId, ++id);
      message.add_int64(FunctionField::kName, to_i64(function.name));
      message.add_int64(FunctionField::kSystemName, to_i64(function.system_name));
      if (function.file != 0) message.add_int64(FunctionField::kFilename, to_i64(function.file));
      if (function.begin_line != 0) message.add_int64(FunctionField::kStartLine, function.begin_line);
    }
    if (auto flushed = flush(false); !flushed) return flushed;
  }
  return {};
}

void Writer::write_facts() {
  for (const auto& [key, value] : profile_.facts) {
    // Not of the recording, but of the file that it was read from.
    if (key != kFormatFact) write_fact(key, value);
  }
  if (profile_.lost_samples != 0) write_comment(kLostSamplesComment, std::to_string(profile_.lost_samples));
  if (has_times_ && (profile_.clock_offset_ns != 0 || last_time_ >= kFirstWallClock)) {
    write_comment(kClockOffsetComment, std::to_string(profile_.clock_offset_ns));
  }
  if (profile_.clock_offset_ns != 0) {
    std::int64_t start = profile_.clock_offset_ns;
    if (has_times_ && __builtin_add_overflow(start, first_time_, &start)) start = profile_.clock_offset_ns;
    message_.add_int64(ProfileField::kTimeNanos, start);
  }
  std::int64_t duration = 0;
  const bool has_fact = profile_.facts.contains(std::string(kDurationFact));
  if (has_times_ && !has_fact && !__builtin_sub_overflow(last_time_, first_time_, &duration) &&
      duration > 0) {
    message_.add_int64(ProfileField::kDurationNanos, duration);
  }
}

void Writer::write_fact(const std::string& key, const std::string& value) {
  const auto seconds = key == kDurationFact ? parse_seconds(value) : std::nullopt;
  const auto period = key == kPeriodFact ? parse_period(value) : std::nullopt;
  if (seconds) {
    message_.add_int64(ProfileField::kDurationNanos, *seconds);
  } else if (period) {
    write_value_type(ProfileField::kPeriodType, period->type, period->unit);
    message_.add_int64(ProfileField::kPeriod, period->value);
  } else if (key == kDropFramesFact) {
    write_text(ProfileField::kDropFrames, value);
  } else if (key == kKeepFramesFact) {
    write_text(ProfileField::kKeepFrames, value);
  } else if (key == kDocUrlFact) {
    write_text(ProfileField::kDocUrl, value);
  } else {
    write_comment(key, value);
  }
}

void Writer::write_comment(std::string_view key, std::string_view value) {
  write_text(ProfileField::kComment, std::string(key) + ": " + std::string(value));
}

void Writer::write_text(ProfileField field, std::string_view text) {
  message_.add_int64(field, to_i64(strings_.intern(text)));
}

void Writer::write_value_type(ProfileField field, std::string_view type, std::string_view unit) {
  Builder<ValueTypeField> message(message_, field);
  message.add_int64(ValueTypeField::kType, to_i64(strings_.intern(type)));
  message.add_int64(ValueTypeField::kUnit, to_i64(strings_.intern(unit)));
}

std::uint32_t Writer::place_of(ContextId context) {
  if (place_of_context_.empty()) {
    FlatMap<std::uint64_t, std::uint32_t> ids;
    for (const SampleContext& known : profile_.samples.contexts()) {
      const std::uint64_t key =
          std::uint64_t{known.thread.value} << 32 | static_cast<std::uint32_t>(known.cpu);
      const auto [place, added] = ids.try_emplace(key, static_cast<std::uint32_t>(places_.size()));
      if (added) places_.push_back({known.thread, known.cpu});
      place_of_context_.push_back(place->second);
    }
  }
  return place_of_context_[context.index()];
}

// Only between messages: a message is put together in the buffer.
Result<void> Writer::flush(bool all) {
  if (buffer_.size() < kFlushBytes && !all) return {};
  auto written = sink_.write(buffer_);
  buffer_.clear();
  return written;
}

}  // namespace

Result<void> write_message(const Profile& profile, ByteSink& sink) {
  return Writer(profile, sink).run();
}

}  // namespace nodescope::pprof
