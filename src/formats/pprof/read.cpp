#include <fmt/format.h>

#include <array>
#include <limits>
#include <map>
#include <protozero/exception.hpp>
#include <string>

#include "base/text.h"
#include "formats/pprof/function_name.h"
#include "formats/pprof/labels.h"
#include "formats/pprof/messages.h"
#include "formats/pprof/pprof.h"
#include "formats/pprof/run_index.h"
#include "formats/pprof/tables.h"
#include "formats/pprof/units.h"

namespace nodescope::pprof {

namespace {

using protozero::data_view;

// A file that is not mapped is held in memory, because its names come last.
constexpr std::uint64_t kMaxBytesInMemory = std::uint64_t{2} << 30;

// Functions inlined at one place.  Real programs stay below 100.
constexpr std::size_t kMaxInlined = 1024;

// One byte can name a location with many lines, so a small file could ask for endless frames.  Real profiles
// need less than two frames a byte.
constexpr std::uint64_t kFramesPerByte = 8;
constexpr std::uint64_t kFreeFrames = 1 << 20;

// Two gigabytes of memory; real profiles have a hundred thousand.
constexpr std::size_t kMaxStacks = std::size_t{1} << 26;

constexpr std::size_t kMaxEvents = 255;
constexpr std::size_t kMaxFacts = 1000;

constexpr std::string_view kDanglingFunction = "lines that name no function";
constexpr std::string_view kDanglingLocation = "frames that name no location";
constexpr std::string_view kTooManyFrames = "frames beyond what the file can mean are left out";
constexpr std::string_view kNegative = "negative values are left out";
constexpr std::string_view kUnusedLabel = "labels that have no place in the model";
constexpr std::string_view kMalformedSample = "malformed samples are lost";

std::uint32_t to_u32(std::uint64_t value) {
  return value <= std::numeric_limits<std::uint32_t>::max() ? static_cast<std::uint32_t>(value) : 0;
}

std::uint64_t saturating_multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::uint64_t>::max() : product;
}

std::int64_t saturating_subtract(std::int64_t a, std::int64_t b) {
  std::int64_t difference;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return a < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

// "12.5 s", exact and for people.
std::string seconds_text(std::int64_t nanoseconds) {
  std::string text = fmt::format("{}.{:09}", nanoseconds / 1'000'000'000, nanoseconds % 1'000'000'000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + " s";
}

// Where a sample was taken, by its labels.  Names are indices into the string table.
struct Origin {
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::int64_t os_tid = 0;
  std::int64_t cpu = kUnknownCpu;
  std::uint64_t process_name = 0;
  std::uint64_t thread_name = 0;

  bool operator==(const Origin&) const = default;
};

// What the labels of one sample say.
struct Labels {
  Origin origin;
  std::int64_t time = 0;
  bool has_time = false;
};

struct EventOfValue {
  EventId event;
  std::uint64_t factor = 1;
};

struct FrameRange {
  std::size_t first = 0;
  std::size_t count = 0;
};

struct RunSample {
  StackId stack;
  ContextId context;
  std::uint64_t weight = 0;
};

class Reader {
 public:
  Reader(std::string_view file, Profile& profile)
      : file_(file),
        profile_(profile),
        diagnostics_(profile.diagnostics),
        tables_(parse_tables(file, diagnostics_)) {}

  Result<void> run(std::string_view name, Progress* progress);

 private:
  void read_events();
  void read_facts();
  void read_comment(std::string_view comment);
  void find_first_lines();
  void read_locations();
  void read_mappings();
  void read_clock();
  void read_samples(Progress* progress);

  std::string_view text(std::uint64_t index) { return tables_.text(index, diagnostics_); }
  std::size_t default_type();
  Frame frame_of_line(const LineEntry* line, std::uint64_t mapping_id, bool inlined);

  void read_sample(data_view message);
  void add_sample(std::int64_t time, StackId stack, ContextId context, std::uint64_t weight);
  void flush_run();
  void read_label(data_view message, Labels& labels);
  std::optional<std::int64_t> label_number(std::uint64_t str, std::uint64_t num);
  StackId stack_of(const std::vector<std::uint64_t>& location_ids);
  std::optional<StackId> push_location(StackId stack, std::uint64_t id);
  std::span<const FrameId> frames_of(const FrameRange& range) const {
    return std::span(frames_).subspan(range.first, range.count);
  }
  std::int64_t time_of(const Labels& labels);
  ContextId context_of(const Origin& origin, EventId event);
  ContextId find_context(const Origin& origin, EventId event);
  ThreadId thread_of(const Origin& origin);
  LabelRole role_of(std::uint64_t key);

  std::string_view file_;
  Profile& profile_;
  Diagnostics& diagnostics_;
  Tables tables_;
  std::vector<EventOfValue> events_;  // by place in a sample's values
  EventId default_event_;
  std::vector<FrameId> frames_;  // of all locations, callers first
  std::vector<FrameRange> locations_;
  std::vector<std::uint32_t> first_lines_;  // by place of the function; 0: there is but one, or its beginning
  FrameId unknown_frame_;
  std::uint64_t frames_left_ = 0;
  std::optional<std::int64_t> clock_offset_;  // as our own files tell it
  std::optional<std::int64_t> time_base_;
  std::vector<std::uint8_t> roles_;  // by string; one more than the role, 0 is not looked up yet
  FlatMap<std::string, ContextId> contexts_;
  std::uint64_t unused_labels_ = 0;
  std::uint64_t unused_label_key_ = 0;  // of the first of them

  std::int64_t run_time_ = 0;
  std::vector<RunSample> run_;
  RunIndex run_index_;

  // Of the sample being read.
  std::vector<std::uint64_t> location_ids_;
  std::vector<std::int64_t> values_;

  // Of the sample before, with which most samples share their callers and the place where they were taken.
  std::vector<std::uint64_t> last_ids_;                    // callers last
  std::vector<StackId> last_stacks_;                       // callers first
  std::vector<std::optional<ContextId>> last_contexts_{};  // by event
  Origin last_origin_;
};

Result<void> Reader::run(std::string_view name, Progress* progress) {
  if (tables_.sample_count == 0 && tables_.sample_types.empty()) {
    return fail(ErrorCode::kInvalidInput, fmt::format("{}: a pprof file without samples", name));
  }
  if (tables_.strings.empty()) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("{}: a pprof file cut before its names, which come last", name));
  }
  read_facts();
  read_events();
  find_first_lines();
  read_locations();
  read_samples(progress);
  read_mappings();
  read_clock();
  return {};
}

void Reader::read_clock() {
  const bool relative = time_base_.value_or(0) != 0;
  if (clock_offset_ || relative || !time_base_) {
    profile_.clock_offset_ns = clock_offset_ ? *clock_offset_ : relative ? *time_base_ : tables_.time_nanos;
  }
  // A duration that the samples' own times tell is no fact of its own.
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  for (std::size_t i = 0; i < profile_.samples.size(); ++i) {
    first = std::min(first, profile_.samples.time_ns(i));
    last = std::max(last, profile_.samples.time_ns(i));
  }
  const bool told = time_base_ && saturating_subtract(last, first) == tables_.duration_nanos;
  if (tables_.duration_nanos > 0 && !told) {
    profile_.facts.insert_or_assign(std::string(kDurationFact), seconds_text(tables_.duration_nanos));
  }
}

// The one that pprof shows by default becomes event 0.
void Reader::read_events() {
  if (tables_.sample_types.empty()) tables_.sample_types.emplace_back();
  const std::size_t count = std::min(tables_.sample_types.size(), kMaxEvents);
  if (count < tables_.sample_types.size())
    diagnostics_.error("more than 255 sample types: the rest are left out");
  events_.resize(count);
  const std::size_t first = std::min(default_type(), count - 1);
  const auto intern = [&](std::size_t i) {
    const std::string_view type = text(tables_.sample_types[i].type);
    const std::string_view unit = text(tables_.sample_types[i].unit);
    const ScaledUnit scaled = unit_of_text(type, unit);
    if (!scaled.known) diagnostics_.info("units that are kept as plain counts", unit);
    const std::size_t known = profile_.events().size();
    EventId event = profile_.intern_event(type, scaled.unit);
    // Two columns of one name must not add up.
    if (event.index() < known) event = profile_.intern_event(fmt::format("{} #{}", type, i + 1), scaled.unit);
    events_[i] = {event, scaled.factor};
  };
  intern(first);
  for (std::size_t i = 0; i < count; ++i) {
    if (i != first) intern(i);
  }
  default_event_ = events_[first].event;
}

std::size_t Reader::default_type() {
  const std::string_view wanted = text(tables_.default_sample_type);
  if (!wanted.empty()) {
    for (std::size_t i = 0; i < tables_.sample_types.size(); ++i) {
      if (text(tables_.sample_types[i].type) == wanted) return i;
    }
  }
  return tables_.sample_types.size() - 1;
}

void Reader::read_facts() {
  for (const std::uint64_t comment : tables_.comments) read_comment(text(comment));
  const auto add = [&](std::string_view key, std::string_view value) {
    if (!value.empty()) profile_.facts.insert_or_assign(std::string(key), std::string(value));
  };
  add(kDropFramesFact, text(tables_.drop_frames));
  add(kKeepFramesFact, text(tables_.keep_frames));
  add(kDocUrlFact, text(tables_.doc_url));
  if (tables_.period > 0) {
    add(kPeriodFact, fmt::format("{} {} of {}", tables_.period, text(tables_.period_type.unit),
                                 text(tables_.period_type.type)));
  }
}

// Ours are "key: value".  Of other tools' comments those that look so become facts too, the others one fact
// together.
void Reader::read_comment(std::string_view comment) {
  const std::size_t colon = comment.find(": ");
  const std::string_view key = comment.substr(0, colon);
  const std::string_view value = colon == std::string_view::npos ? "" : comment.substr(colon + 2);
  if (key == kClockOffsetComment && !clock_offset_) {
    clock_offset_ = parse_number<std::int64_t>(value);
  } else if (key == kLostSamplesComment && profile_.lost_samples == 0) {
    profile_.lost_samples = parse_number<std::uint64_t>(value).value_or(0);
  } else if (profile_.facts.size() >= kMaxFacts) {
    diagnostics_.warn("comments beyond the first thousand are left out");
  } else if (colon != std::string_view::npos && key.size() <= 64 &&
             !profile_.facts.contains(std::string(key))) {
    profile_.facts.emplace(key, value);
  } else {
    std::string& all = profile_.facts["comment"];
    if (!all.empty()) all += '\n';
    all += comment;
  }
}

// Writers that give each location the line that was executed seldom say where functions begin: a function
// with several lines then goes by the first of them, so that it stays one function.
void Reader::find_first_lines() {
  std::vector<bool> has_several(tables_.functions.size());
  first_lines_.resize(tables_.functions.size());
  for (const LineEntry& entry : tables_.lines) {
    const auto place = tables_.function_ids.find(entry.function_id);
    const std::uint32_t line = to_u32(entry.line);
    if (!place || line == 0) continue;
    std::uint32_t& first = first_lines_[*place];
    if (first != 0 && first != line) has_several[*place] = true;
    first = first == 0 ? line : std::min(first, line);
  }
  for (std::size_t i = 0; i < first_lines_.size(); ++i) {
    const FunctionEntry& function = tables_.functions[i];
    if (!has_several[i] || function.start_line != 0) {
      first_lines_[i] = 0;
    } else {
      diagnostics_.info("functions of which the file has only executed lines are shown by the first of them",
                        text(function.name));
    }
  }
}

void Reader::read_locations() {
  unknown_frame_ = profile_.frames.intern(Frame{});
  for (const LocationEntry& location : tables_.locations) {
    FrameRange range{frames_.size(), std::min(location.line_count, kMaxInlined)};
    if (range.count < location.line_count)
      diagnostics_.warn(kTooManyFrames, "functions inlined at one place");
    if (range.count == 0) {
      frames_.push_back(profile_.frames.intern(frame_of_line(nullptr, location.mapping_id, false)));
      range.count = 1;
    } else {
      // The last line is the function into which those before it were inlined.
      const std::size_t last = location.first_line + location.line_count - 1;
      for (std::size_t i = 0; i < range.count; ++i) {
        const LineEntry& line = tables_.lines[last - i];
        frames_.push_back(profile_.frames.intern(frame_of_line(&line, location.mapping_id, i > 0)));
      }
    }
    locations_.push_back(range);
  }
}

Frame Reader::frame_of_line(const LineEntry* line, std::uint64_t mapping_id, bool inlined) {
  FunctionText function;
  const auto mapping = tables_.mapping_ids.find(mapping_id);
  if (mapping_id != 0 && mapping) function.module = text(tables_.mappings[*mapping].file);
  if (mapping_id != 0 && !mapping)
    diagnostics_.warn("locations that name no mapping", fmt::format("id {}", mapping_id));
  if (line == nullptr) return frame_of_function(profile_, function, inlined);
  const auto place = tables_.function_ids.find(line->function_id);
  if (place) {
    const FunctionEntry& entry = tables_.functions[*place];
    function.name = text(entry.name);
    function.system_name = text(entry.system_name);
    function.file = text(entry.file);
    function.line = function.function_line = to_u32(entry.start_line);
    function.first_line = first_lines_[*place];
  } else {
    diagnostics_.warn(kDanglingFunction, fmt::format("id {}", line->function_id));
  }
  if (line->line != 0 || line->column != 0) {
    function.line = to_u32(line->line);
    function.column = to_u32(line->column);
  }
  return frame_of_function(profile_, function, inlined);
}

// pprof does not say whose they are; if there is only one process, they are its.
void Reader::read_mappings() {
  const ProcessId owner{profile_.processes().size() == 2 ? std::size_t{1} : std::size_t{0}};
  for (const MappingEntry& entry : tables_.mappings) {
    // Only the name of a module, as writers without addresses give it.
    if (entry.start == 0 && entry.limit == 0 && entry.build_id == 0) continue;
    profile_.mappings.push_back({owner, entry.start, entry.limit, entry.file_offset,
                                 profile_.strings.intern(text(entry.file)),
                                 profile_.strings.intern(text(entry.build_id))});
  }
}

void Reader::read_samples(Progress* progress) {
  frames_left_ = kFreeFrames + file_.size() * kFramesPerByte;
  profile_.samples.reserve(tables_.sample_count);
  std::size_t since_look = 0;
  for_each_field<ProfileField>(
      {file_.data(), tables_.readable_bytes}, [](ProfileField, std::uint64_t) {},
      [&](ProfileField field, data_view message) {
        if (field != ProfileField::kSample) return;
        try {
          read_sample(message);
        } catch (const protozero::exception&) {
          diagnostics_.error(kMalformedSample);
          ++profile_.lost_samples;
        }
        if (progress != nullptr && ++since_look % 1024 == 0) {
          progress->done_bytes = static_cast<std::uint64_t>(message.data() - file_.data());
        }
      });
  flush_run();
  if (unused_labels_ != 0)
    diagnostics_.add(Severity::kInfo, kUnusedLabel, text(unused_label_key_), unused_labels_);
}

void Reader::read_sample(data_view message) {
  location_ids_.clear();
  values_.clear();
  Labels labels;
  for_each_field<SampleField>(
      message,
      [&](SampleField field, std::uint64_t value) {
        if (field == SampleField::kLocationId) location_ids_.push_back(value);
        if (field == SampleField::kValue) values_.push_back(static_cast<std::int64_t>(value));
      },
      [&](SampleField field, data_view bytes) {
        if (field == SampleField::kLabel) read_label(bytes, labels);
        if (field == SampleField::kLocationId) {
          for_each_packed(bytes, [&](std::uint64_t id) { location_ids_.push_back(id); });
        }
        if (field == SampleField::kValue) {
          for_each_packed(bytes,
                          [&](std::uint64_t value) { values_.push_back(static_cast<std::int64_t>(value)); });
        }
      });
  if (values_.size() != events_.size())
    diagnostics_.warn("samples whose number of values is not that of the types");

  const StackId stack = stack_of(location_ids_);
  const std::int64_t time = time_of(labels);
  bool any = false;
  for (std::size_t i = 0; i < std::min(values_.size(), events_.size()); ++i) {
    if (values_[i] < 0) diagnostics_.warn(kNegative, fmt::format("{}", values_[i]));
    any = any || values_[i] != 0;
    if (values_[i] <= 0) continue;
    const std::uint64_t weight =
        saturating_multiply(static_cast<std::uint64_t>(values_[i]), events_[i].factor);
    add_sample(time, stack, context_of(labels.origin, events_[i].event), weight);
  }
  // Nothing was counted here, but the stack was seen.
  if (!any) add_sample(time, stack, context_of(labels.origin, default_event_), 0);
}

// Samples that differ only in labels without a place in the model are one sample to pprof, and to us.
void Reader::add_sample(std::int64_t time, StackId stack, ContextId context, std::uint64_t weight) {
  if (time != run_time_ || run_.size() >= kLongestRun) {
    flush_run();
    run_time_ = time;
  }
  const std::size_t place =
      run_index_.place_of(std::uint64_t{stack.value} << 32 | context.value, run_.size());
  if (place == run_.size()) run_.push_back({stack, context, 0});
  std::uint64_t& sum = run_[place].weight;
  sum += std::min(weight, std::numeric_limits<std::uint64_t>::max() - sum);
}

void Reader::flush_run() {
  for (const RunSample& sample : run_) {
    profile_.samples.add(run_time_, sample.stack, sample.context, sample.weight);
  }
  run_.clear();
  run_index_.clear();
}

void Reader::read_label(data_view message, Labels& labels) {
  std::uint64_t key = 0;
  std::uint64_t str = 0;
  std::uint64_t num = 0;
  std::uint64_t unit = 0;
  for_each_number<LabelField>(message, [&](LabelField field, std::uint64_t value) {
    if (field == LabelField::kKey) key = value;
    if (field == LabelField::kStr) str = value;
    if (field == LabelField::kNum) num = value;
    if (field == LabelField::kNumUnit) unit = value;
  });
  const LabelRole role = role_of(key);
  if (role == LabelRole::kProcessName) labels.origin.process_name = str;
  if (role == LabelRole::kThreadName) labels.origin.thread_name = str;
  if (role == LabelRole::kProcessName || role == LabelRole::kThreadName) return;
  const auto value = role == LabelRole::kNone ? std::nullopt : label_number(str, num);
  if (!value) {
    if (unused_labels_++ == 0) unused_label_key_ = key;
    return;
  }
  if (role == LabelRole::kPid) labels.origin.pid = *value;
  if (role == LabelRole::kTid) labels.origin.tid = *value;
  if (role == LabelRole::kOsTid) labels.origin.os_tid = *value;
  if (role == LabelRole::kCpu) labels.origin.cpu = *value;
  if (role == LabelRole::kTime) {
    const std::uint64_t factor = unit == 0 ? 1 : unit_of_text("", text(unit)).factor;
    std::int64_t time;
    labels.has_time = !__builtin_mul_overflow(*value, static_cast<std::int64_t>(factor), &time);
    labels.time = labels.has_time ? time : 0;
  }
}

// Some writers give numbers as text.
std::optional<std::int64_t> Reader::label_number(std::uint64_t str, std::uint64_t num) {
  return str == 0 ? static_cast<std::int64_t>(num) : parse_number<std::int64_t>(text(str));
}

StackId Reader::stack_of(const std::vector<std::uint64_t>& location_ids) {
  const std::size_t size = location_ids.size();
  const std::size_t most = std::min(size, last_ids_.size());
  std::size_t same = 0;
  while (same < most && location_ids[size - 1 - same] == last_ids_[last_ids_.size() - 1 - same]) ++same;
  last_stacks_.resize(same);
  StackId stack = same == 0 ? kEmptyStack : last_stacks_.back();
  for (std::size_t i = size - same; i-- > 0;) {
    const auto pushed = push_location(stack, location_ids[i]);
    if (!pushed) break;
    stack = *pushed;
    last_stacks_.push_back(stack);
  }
  last_ids_.assign(location_ids.end() - static_cast<std::ptrdiff_t>(last_stacks_.size()), location_ids.end());
  return stack;
}

// Nothing if the file asks for more than it can mean.
std::optional<StackId> Reader::push_location(StackId stack, std::uint64_t id) {
  const auto place = tables_.location_ids.find(id);
  if (!place) diagnostics_.warn(kDanglingLocation, fmt::format("id {}", id));
  const std::span<const FrameId> frames =
      place ? frames_of(locations_[*place]) : std::span(&unknown_frame_, 1);
  if (frames.size() > frames_left_ || profile_.stacks.size() >= kMaxStacks) {
    diagnostics_.error(kTooManyFrames);
    return std::nullopt;
  }
  frames_left_ -= frames.size();
  for (const FrameId frame : frames) stack = profile_.stacks.push(stack, frame);
  return stack;
}

// Wall-clock times, as Datadog's end_timestamp_ns, are counted from the beginning of the profile; others, as
// the time since boot that perf_to_profile and we write, are kept as they are.
std::int64_t Reader::time_of(const Labels& labels) {
  if (!labels.has_time) return 0;
  if (!time_base_) {
    const bool wall_clock = !clock_offset_ && labels.time >= kFirstWallClock;
    const bool has_start = tables_.time_nanos >= kFirstWallClock;
    time_base_ = !wall_clock ? 0 : has_start ? tables_.time_nanos : labels.time;
  }
  return saturating_subtract(labels.time, *time_base_);
}

ContextId Reader::context_of(const Origin& origin, EventId event) {
  if (last_contexts_.empty() || origin != last_origin_) {
    last_contexts_.assign(profile_.events().size(), std::nullopt);
    last_origin_ = origin;
  }
  auto& known = last_contexts_[event.index()];
  if (!known) known = find_context(origin, event);
  return *known;
}

ContextId Reader::find_context(const Origin& origin, EventId event) {
  const std::array<std::uint64_t, 7> parts = {static_cast<std::uint64_t>(origin.pid),
                                              static_cast<std::uint64_t>(origin.tid),
                                              static_cast<std::uint64_t>(origin.os_tid),
                                              static_cast<std::uint64_t>(origin.cpu),
                                              origin.process_name,
                                              origin.thread_name,
                                              event.value};
  const std::string_view key(reinterpret_cast<const char*>(parts.data()), sizeof(parts));
  const auto found = contexts_.find(key);
  if (found != contexts_.end()) return found->second;
  const bool has_cpu = origin.cpu >= 0 && origin.cpu <= std::numeric_limits<std::int32_t>::max();
  const std::int32_t cpu = has_cpu ? static_cast<std::int32_t>(origin.cpu) : kUnknownCpu;
  const ContextId context = profile_.samples.intern({thread_of(origin), cpu, event});
  contexts_.emplace(std::string(key), context);
  return context;
}

ThreadId Reader::thread_of(const Origin& origin) {
  const auto id_of = [&](std::int64_t number) {
    const auto id = static_cast<std::int32_t>(number);
    if (id != number) diagnostics_.warn("process and thread ids beyond 32 bits", fmt::format("{}", number));
    return id == number ? id : 0;
  };
  const ProcessId process = profile_.intern_process(id_of(origin.pid), text(origin.process_name));
  return profile_.intern_thread(process, id_of(origin.os_tid != 0 ? origin.os_tid : origin.tid),
                                text(origin.thread_name));
}

LabelRole Reader::role_of(std::uint64_t key) {
  if (key >= tables_.strings.size()) return LabelRole::kNone;
  if (roles_.empty()) roles_.resize(tables_.strings.size());
  std::uint8_t& known = roles_[key];
  if (known == 0) known = static_cast<std::uint8_t>(static_cast<std::uint8_t>(label_role_of(text(key))) + 1);
  return static_cast<LabelRole>(known - 1);
}

}  // namespace

Result<Profile> read(ByteSource& source, const ReadOptions& options) {
  std::string storage;
  const auto file = map_or_read_whole(source, storage, kMaxBytesInMemory);
  if (!file) return std::unexpected(file.error());
  if (file->size() > std::numeric_limits<std::uint32_t>::max()) {
    return fail(ErrorCode::kLimit, fmt::format("{}: a pprof file cannot be larger than 4 GB", source.name()));
  }
  Profile profile;
  if (auto read = Reader(as_text(*file), profile).run(source.name(), options.progress); !read) {
    return std::unexpected(std::move(read.error()));
  }
  return profile;
}

}  // namespace nodescope::pprof
