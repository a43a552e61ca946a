#include "formats/sentry/sentry.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/text.h"
#include "formats/json_extra.h"
#include "formats/symbol_name.h"
#include "json/reader.h"
#include "json/sniff.h"

namespace nodescope {

namespace {

constexpr int kSecondDecimals = 9;  // from seconds to nanoseconds

struct RawSample {
  std::uint64_t stack = 0;
  std::int64_t time_ns = 0;
  std::string thread;
};

class SentryReader {
 public:
  SentryReader(ByteSource& source, Progress* progress) : source_(source), reader_(source, progress) {}

  Result<Profile> read() {
    read_members(0);
    const bool any = !samples_.empty();
    if (const auto finished = reader_.finish(profile_.diagnostics, any); !finished)
      return std::unexpected(finished.error());
    if (!any)
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("{}: a profile of Sentry without samples", source_.name()));
    build();
    return std::move(profile_);
  }

 private:
  void read_members(int wrappers) {
    auto members = reader_.object();
    while (const auto key = members.next()) {
      if (*key == "profile" && wrappers < json::kMaxWrappers && reader_.peek() == json::Type::kObject) {
        read_members(wrappers + 1);
      } else if (*key == "frames") {
        auto elements = reader_.array();
        while (elements.next()) frames_.push_back(read_frame());
      } else if (*key == "stacks") {
        read_stacks();
      } else if (*key == "samples") {
        auto elements = reader_.array();
        while (elements.next()) read_sample();
      } else if (*key == "thread_metadata") {
        read_thread_names();
      } else if (*key == "release" && reader_.peek() == json::Type::kString) {
        profile_.facts["release"] = reader_.string().value_or("");
      }
    }
  }

  FrameId read_frame() {
    std::string function;
    StringId path;
    StringId name;
    Frame frame;
    auto members = reader_.object();
    while (const auto key = members.next()) {
      if (*key == "function") {
        function = reader_.string().value_or("");
      } else if (*key == "abs_path") {
        path = json::read_interned(reader_, profile_);
      } else if (*key == "filename" || *key == "file") {
        name = json::read_interned(reader_, profile_);
      } else if (*key == "lineno" && reader_.peek() == json::Type::kNumber) {
        frame.line = json::read_place(reader_);
      } else if (*key == "colno" && reader_.peek() == json::Type::kNumber) {
        frame.column = json::read_place(reader_);
      }
    }
    frame.file = path == StringId{} ? name : path;
    if (function == "<anonymous>" || function == "anonymous") function.clear();
    const Frame known = frame_of_symbol(profile_, function, {});
    frame.function = known.function;
    const bool has_place = frame.file != StringId{} || frame.line != 0;
    const bool is_special = known.kind != FrameKind::kNative && known.kind != FrameKind::kUnknown;
    frame.kind = is_special ? known.kind : has_place ? FrameKind::kJs : known.kind;
    return profile_.frames.intern(frame);
  }

  // Innermost first.
  void read_stacks() {
    auto elements = reader_.array();
    while (elements.next()) {
      const std::size_t first = stack_frames_.size();
      reader_.numbers([&](const auto& number) {
        const std::int64_t frame = number ? number->rounded() : -1;
        stack_frames_.push_back(frame < 0 ? SIZE_MAX : static_cast<std::size_t>(frame));
      });
      stack_begins_.push_back(first);
    }
  }

  void read_sample() {
    RawSample sample;
    auto members = reader_.object();
    while (const auto key = members.next()) {
      if (*key == "stack_id") {
        const auto number = reader_.number();
        sample.stack = number ? number->as_count() : 0;
      } else if (*key == "elapsed_since_start_ns") {
        const auto number = reader_.number();
        sample.time_ns = number ? number->rounded() : 0;
      } else if (*key == "timestamp") {
        const auto number = reader_.number();
        sample.time_ns = number ? number->scaled(kSecondDecimals) : 0;
        on_wall_clock_ = true;
      } else if (*key == "thread_id") {
        sample.thread = read_id();
      }
    }
    if (!reader_.failed()) samples_.push_back(std::move(sample));
  }

  std::string read_id() {
    if (reader_.peek() == json::Type::kNumber) return fmt::format("{}", json::read_id(reader_));
    return std::string(reader_.string().value_or(""));
  }

  void read_thread_names() {
    auto threads = reader_.object();
    while (const auto id = threads.next()) {
      const std::string thread(*id);
      auto members = reader_.object();
      while (const auto key = members.next()) {
        if (*key == "name" && reader_.peek() == json::Type::kString)
          thread_names_[thread] = reader_.string().value_or("");
      }
    }
  }

  // ---------------------------------------------------------------- building

  void build() {
    build_stacks();
    if (on_wall_clock_) {
      profile_.clock_offset_ns = std::ranges::min(samples_, {}, &RawSample::time_ns).time_ns;
      for (RawSample& sample : samples_)
        sample.time_ns -= std::max<std::int64_t>(0, profile_.clock_offset_ns);
    }
    std::map<std::string, std::vector<std::size_t>> by_thread;
    for (std::size_t i = 0; i < samples_.size(); ++i) by_thread[samples_[i].thread].push_back(i);
    for (auto& [thread, indices] : by_thread) build_thread(thread, indices);
  }

  void build_stacks() {
    const FrameId unknown = profile_.frames.intern(Frame{});
    for (std::size_t i = 0; i < stack_begins_.size(); ++i) {
      const std::size_t end = i + 1 < stack_begins_.size() ? stack_begins_[i + 1] : stack_frames_.size();
      StackId stack = kEmptyStack;
      for (std::size_t k = end; k-- > stack_begins_[i];) {
        const std::size_t frame = stack_frames_[k];
        if (frame >= frames_.size()) profile_.diagnostics.warn("a frame does not exist: shown as unknown");
        stack = profile_.stacks.push(stack, frame < frames_.size() ? frames_[frame] : unknown);
      }
      stacks_.push_back(stack);
    }
  }

  // As in V8's profiles, a sample lasts until the next one of its thread, and the last one as long as the
  // others do on average.
  void build_thread(const std::string& name, std::vector<std::size_t>& indices) {
    std::ranges::stable_sort(indices, {}, [&](std::size_t i) { return samples_[i].time_ns; });
    const auto time_of = [&](std::size_t k) { return samples_[indices[k]].time_ns; };
    const auto distance = [](std::int64_t from, std::int64_t to) {
      return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
    };
    const std::size_t last = indices.size() - 1;
    const bool is_timed = time_of(0) != time_of(last);
    const EventId event = is_timed ? profile_.intern_event("wall", Unit::kNanoseconds)
                                   : profile_.intern_event("samples", Unit::kSamples);
    const std::uint64_t average = is_timed ? distance(time_of(0), time_of(last)) / last : 1;
    const ContextId context = profile_.samples.intern({thread_of(name), kUnknownCpu, event});
    for (std::size_t k = 0; k < indices.size(); ++k) {
      const RawSample& sample = samples_[indices[k]];
      const std::uint64_t weight = !is_timed || k == last ? average : distance(time_of(k), time_of(k + 1));
      const bool exists = sample.stack < stacks_.size();
      if (!exists) profile_.diagnostics.warn("a sample's stack does not exist: shown without one");
      profile_.samples.add(sample.time_ns, exists ? stacks_[sample.stack] : kEmptyStack, context, weight);
    }
  }

  ThreadId thread_of(const std::string& id) {
    const auto found = thread_names_.find(id);
    const std::string_view name =
        found == thread_names_.end() ? std::string_view() : std::string_view(found->second);
    const auto tid = parse_number<std::int32_t>(id).value_or(0);
    return profile_.intern_thread(ProcessId{}, tid, name);
  }

  ByteSource& source_;
  json::Reader reader_;
  Profile profile_;
  std::vector<FrameId> frames_;
  std::vector<std::size_t> stack_frames_;  // of all stacks
  std::vector<std::size_t> stack_begins_;
  std::vector<StackId> stacks_;
  std::vector<RawSample> samples_;
  std::map<std::string, std::string> thread_names_;
  bool on_wall_clock_ = false;
};

bool recognise_sentry(std::string_view head) {
  const json::Outline outline = json::outline_of(head);
  if (outline.has("samples[].stack_id")) return true;
  const bool has_frames = outline.has("frames[].function") || outline.has("frames[].abs_path");
  return has_frames && (outline.has("stacks") || outline.has("thread_metadata") || outline.has("samples"));
}

Result<Profile> read_sentry(ByteSource& source, const ReadOptions& options) {
  return SentryReader(source, options.progress).read();
}

}  // namespace

const Format kSentryFormat = {
    .name = "sentry",
    .extension = "",
    .description = "profiles of Sentry's SDKs (@sentry/profiling-node)",
    .recognise = recognise_sentry,
    .read = read_sentry,
    .write = nullptr,
};

}  // namespace nodescope
