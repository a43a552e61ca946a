#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "base/text.h"
#include "formats/json_extra.h"
#include "formats/profile_json/profile_json_io.h"
#include "json/reader.h"

namespace nodescope {

namespace {

constexpr std::uint32_t kNone = 0xFFFFFFFF;

std::uint32_t to_index(const std::optional<json::Number>& number) {
  const std::int64_t index = number ? number->rounded() : -1;
  return index >= 0 && index < kNone ? static_cast<std::uint32_t>(index) : kNone;
}

std::int64_t to_integer(const std::optional<json::Number>& number) {
  return number ? number->rounded() : 0;
}

std::uint32_t to_line(const std::optional<json::Number>& number) {
  const std::uint64_t line = number ? number->as_count() : 0;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(line, std::numeric_limits<std::uint32_t>::max()));
}

template <std::size_t N>
std::optional<std::size_t> find_name(const std::array<std::string_view, N>& names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

// Tables refer to each other by index and may come in any order, so they are read as they are and put
// together last.
class ProfileJsonReader {
 public:
  ProfileJsonReader(ByteSource& source, Progress* progress) : source_(source), reader_(source, progress) {}

  Result<Profile> read() {
    auto members = reader_.object();
    while (const auto key = members.next()) read_member(*key);
    if (!newer_version_ && is_ours_) {
      const bool something_read = !sample_stacks_.empty();
      if (const auto finished = reader_.finish(profile_.diagnostics, something_read); !finished) {
        return std::unexpected(finished.error());
      }
      build();
      return std::move(profile_);
    }
    if (const auto finished = reader_.finish(profile_.diagnostics, false); !finished)
      return std::unexpected(finished.error());
    if (newer_version_) {
      return fail(ErrorCode::kUnsupported,
                  fmt::format("{}: of a newer version of nodescope; this one reads version {}",
                              source_.name(), kProfileJsonVersion));
    }
    return fail(ErrorCode::kInvalidInput, fmt::format("{}: not a profile of nodescope", source_.name()));
  }

 private:
  struct RawThread {
    std::uint32_t process = kNone;
    std::int32_t tid = 0;
    StringId name;
  };

  void read_member(std::string_view key) {
    if (key == "format") {
      is_ours_ = reader_.string() == kProfileJsonName;
    } else if (key == "version") {
      newer_version_ = to_integer(reader_.number()) > kProfileJsonVersion;
    } else if (key == "facts") {
      read_facts();
    } else if (key == "clock_offset_ns") {
      profile_.clock_offset_ns = to_integer(reader_.number());
    } else if (key == "lost_samples") {
      const auto number = reader_.number();
      profile_.lost_samples = number ? number->as_count() : 0;
    } else if (key == "diagnostics") {
      each_object([&] { read_diagnostic(); });
    } else if (key == "events") {
      each_object([&] { read_event(); });
    } else if (key == "processes") {
      each_object([&] { read_process(); });
    } else if (key == "threads") {
      each_object([&] { read_thread(); });
    } else if (key == "frames") {
      each_object([&] { read_frame(); });
    } else if (key == "stacks") {
      read_stacks();
    } else if (key == "samples") {
      read_samples();
    } else if (key == "markers") {
      each_object([&] { read_marker(); });
    } else if (key == "mappings") {
      each_object([&] { read_mapping(); });
    } else if (key == "sources") {
      each_object([&] { read_source(); });
    }
  }

  template <typename ReadOne>
  void each_object(ReadOne&& read_one) {
    auto elements = reader_.array();
    while (elements.next()) read_one();
  }

  void read_facts() {
    auto members = reader_.object();
    while (const auto key = members.next()) {
      const std::string name(*key);
      if (const auto value = reader_.string()) profile_.facts[name] = *value;
    }
  }

  void read_diagnostic() {
    Diagnostic diagnostic;
    auto members = reader_.object();
    while (const auto key = members.next()) {
      if (*key == "severity") {
        const auto severity = find_name(kSeverityNames, reader_.string().value_or(""));
        if (severity) diagnostic.severity = static_cast<Severity>(*severity);
      } else if (*key == "what") {
        diagnostic.what = reader_.string().value_or("");
      } else if (*key == "count") {
        const auto number = reader_.number();
        diagnostic.count = number ? number->as_count() : 0;
      } else if (*key == "example") {
        diagnostic.example = reader_.string().value_or("");
      }
    }
    // Our own texts are few, and Diagnostics counts on that.
    constexpr std::size_t kMaxKinds = 1000;
    if (profile_.diagnostics.entries().size() >= kMaxKinds) return;
    profile_.diagnostics.add(diagnostic.severity, diagnostic.what, diagnostic.example, diagnostic.count);
  }

  void read_event() {
    StringId name;
    Unit unit = Unit::kSamples;
    auto members = reader_.object();
    while (const auto key = members.next()) {
      if (*key == "name") {
        name = json::read_interned(reader_, profile_);
      } else if (*key == "unit") {
        unit = unit_of(reader_.string().value_or("")).value_or(Unit::kSamples);
      }
    }
    events_.push_back(profile_.intern_event(profile_.text(name), unit));
  }

  void read_process() {
    std::int32_t pid = 0;
    StringId name;
    auto members = reader_.object();
    while (const auto key = members.next()) {
      if (*key == "pid") {
        pid = json::read_id(reader_);
      } else if (*key == "name") {
        name = json::read_interned(reader_, profile_);
      }
    }
    processes_.push_back(profile_.intern_process(pid, profile_.text(name)));
  }

  void read_thread() {
    RawThread thread;
    auto members = reader_.object();
    while (const auto key = members.next()) {
      if (*key == "process") {
        thread.process = to_index(reader_.number());
      } else if (*key == "tid") {
        thread.tid = json::read_id(reader_);
      } else if (*key == "name") {
        thread.name = json::read_interned(reader_, profile_);
      }
    }
    raw_threads_.push_back(thread);
  }

  void read_frame() {
    Frame frame;
    json::FrameExtra extra;
    auto members = reader_.object();
    while (const auto key = members.next()) {
      if (*key == "function") {
        frame.function = json::read_interned(reader_, profile_);
      } else if (*key == "file") {
        frame.file = json::read_interned(reader_, profile_);
      } else if (*key == "line") {
        frame.line = to_line(reader_.number());
      } else if (*key == "column") {
        frame.column = to_line(reader_.number());
      } else {
        extra.read_member(reader_, *key, profile_);
      }
    }
    frame.kind = extra.kind.value_or(FrameKind::kUnknown);
    frame.tier = extra.tier;
    frame.module = extra.module;
    frame.generated = extra.generated;
    frame.inlined = extra.inlined;
    frame.function_line = extra.function_line;
    frame.function_column = extra.function_column;
    frames_.push_back(profile_.frames.intern(frame));
  }

  void read_indices(std::vector<std::uint32_t>& column) {
    reader_.numbers([&](const auto& number) { column.push_back(to_index(number)); });
  }

  void read_stacks() {
    auto members = reader_.object();
    while (const auto key = members.next()) {
      if (*key == "caller") {
        read_indices(stack_callers_);
      } else if (*key == "frame") {
        read_indices(stack_frames_);
      }
    }
  }

  void read_samples() {
    auto members = reader_.object();
    while (const auto key = members.next()) {
      if (*key == "time_ns") {
        reader_.numbers([&](const auto& time) { sample_times_.push_back(to_integer(time)); });
      } else if (*key == "stack") {
        read_indices(sample_stacks_);
      } else if (*key == "weight") {
        reader_.numbers(
            [&](const auto& weight) { sample_weights_.push_back(weight ? weight->as_count() : 0); });
      } else if (*key == "thread") {
        read_indices(sample_threads_);
      } else if (*key == "cpu") {
        reader_.numbers(
            [&](const auto& cpu) { sample_cpus_.push_back(static_cast<std::int32_t>(to_integer(cpu))); });
      } else if (*key == "event") {
        read_indices(sample_events_);
      }
    }
  }

  void read_marker() {
    Marker marker;
    std::uint32_t thread = kNone;
    auto members = reader_.object();
    while (const auto key = members.next()) {
      if (*key == "time_ns") {
        marker.time_ns = to_integer(reader_.number());
      } else if (*key == "duration_ns") {
        marker.duration_ns = to_integer(reader_.number());
      } else if (*key == "thread") {
        thread = to_index(reader_.number());
      } else if (*key == "kind") {
        const auto kind = find_name(kMarkerKindNames, reader_.string().value_or(""));
        marker.kind = kind ? static_cast<MarkerKind>(*kind) : MarkerKind::kOther;
      } else if (*key == "name") {
        marker.name = json::read_interned(reader_, profile_);
      }
    }
    marker_threads_.push_back(thread);
    profile_.markers.push_back(marker);
  }

  void read_mapping() {
    Mapping mapping;
    std::uint32_t process = kNone;
    const auto read_address = [&] { return parse_hex(reader_.string().value_or("")).value_or(0); };
    auto members = reader_.object();
    while (const auto key = members.next()) {
      if (*key == "process") {
        process = to_index(reader_.number());
      } else if (*key == "start") {
        mapping.start = read_address();
      } else if (*key == "end") {
        mapping.end = read_address();
      } else if (*key == "file_offset") {
        mapping.file_offset = read_address();
      } else if (*key == "file") {
        mapping.file = json::read_interned(reader_, profile_);
      } else if (*key == "build_id") {
        mapping.build_id = json::read_interned(reader_, profile_);
      }
    }
    mapping_processes_.push_back(process);
    profile_.mappings.push_back(mapping);
  }

  void read_source() {
    SourceText source;
    auto members = reader_.object();
    while (const auto key = members.next()) {
      if (*key == "file") {
        source.file = json::read_interned(reader_, profile_);
      } else if (*key == "text") {
        source.text = reader_.string().value_or("");
      }
    }
    profile_.sources.push_back(std::move(source));
  }

  // ---------------------------------------------------------------- building

  void build() {
    build_threads();
    build_stacks();
    build_samples();
    for (std::size_t i = 0; i < profile_.markers.size(); ++i) {
      profile_.markers[i].thread = look_up(threads_, marker_threads_[i], "thread").value_or(ThreadId{});
    }
    for (std::size_t i = 0; i < profile_.mappings.size(); ++i) {
      profile_.mappings[i].process =
          look_up(processes_, mapping_processes_[i], "process").value_or(ProcessId{});
    }
  }

  template <typename Id>
  std::optional<Id> look_up(const std::vector<Id>& ids, std::uint32_t index, std::string_view what) {
    if (index < ids.size()) return ids[index];
    profile_.diagnostics.warn("an index is out of range: taken to be not known",
                              fmt::format("{} {}", what, index));
    return std::nullopt;
  }

  void build_threads() {
    for (const RawThread& raw : raw_threads_) {
      const ProcessId process = look_up(processes_, raw.process, "process").value_or(ProcessId{});
      threads_.push_back(profile_.intern_thread(process, raw.tid, profile_.text(raw.name)));
    }
  }

  void build_stacks() {
    const std::size_t count = std::min(stack_callers_.size(), stack_frames_.size());
    stacks_.resize(std::min<std::size_t>(count, 1));
    for (std::size_t i = 1; i < count; ++i) {
      // Callers come first, so a larger index is damage, and a circle is impossible.
      const StackId caller = look_up(stacks_, stack_callers_[i], "stack").value_or(kEmptyStack);
      const auto frame = look_up(frames_, stack_frames_[i], "frame");
      stacks_.push_back(profile_.stacks.push(caller, frame ? *frame : profile_.frames.intern(Frame{})));
    }
  }

  void build_samples() {
    const std::size_t count = sample_stacks_.size();
    for (const std::size_t length : {sample_times_.size(), sample_weights_.size(), sample_threads_.size(),
                                     sample_cpus_.size(), sample_events_.size()}) {
      if (length != count) profile_.diagnostics.warn("the columns of the samples are not equally long");
    }
    const auto value_or = [](const auto& column, std::size_t i, auto otherwise) {
      return i < column.size() ? column[i] : otherwise;
    };
    profile_.samples.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
      Sample sample;
      sample.time_ns = value_or(sample_times_, i, std::int64_t{0});
      sample.weight = value_or(sample_weights_, i, std::uint64_t{1});
      sample.stack = stack_of(sample_stacks_[i]);
      sample.context.cpu = value_or(sample_cpus_, i, kUnknownCpu);
      sample.context.thread =
          look_up(threads_, value_or(sample_threads_, i, 0u), "thread").value_or(ThreadId{});
      sample.context.event = event_of(value_or(sample_events_, i, 0u));
      profile_.samples.add(sample);
    }
  }

  StackId stack_of(std::uint32_t index) {
    if (index == 0) return kEmptyStack;
    if (const auto stack = look_up(stacks_, index, "stack")) return *stack;
    return profile_.stacks.push(kEmptyStack, profile_.frames.intern(Frame{}));
  }

  EventId event_of(std::uint32_t index) {
    if (const auto event = look_up(events_, index, "event")) return *event;
    return profile_.intern_event("samples", Unit::kSamples);
  }

  ByteSource& source_;
  json::Reader reader_;
  Profile profile_;
  bool is_ours_ = false;
  bool newer_version_ = false;

  // By index in the file.
  std::vector<EventId> events_;
  std::vector<ProcessId> processes_;
  std::vector<RawThread> raw_threads_;
  std::vector<ThreadId> threads_;
  std::vector<FrameId> frames_;
  std::vector<std::uint32_t> stack_callers_;
  std::vector<std::uint32_t> stack_frames_;
  std::vector<StackId> stacks_;
  std::vector<std::int64_t> sample_times_;
  std::vector<std::uint32_t> sample_stacks_;
  std::vector<std::uint64_t> sample_weights_;
  std::vector<std::uint32_t> sample_threads_;
  std::vector<std::int32_t> sample_cpus_;
  std::vector<std::uint32_t> sample_events_;
  std::vector<std::uint32_t> marker_threads_;
  std::vector<std::uint32_t> mapping_processes_;
};

}  // namespace

Result<Profile> read_profile_json(ByteSource& source, const ReadOptions& options) {
  return ProfileJsonReader(source, options.progress).read();
}

}  // namespace nodescope
