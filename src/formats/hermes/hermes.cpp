#include "formats/hermes/hermes.h"

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

constexpr int kMicrosecondDecimals = 3;  // from microseconds to nanoseconds

struct RawFrame {
  FrameId frame;
  std::string parent;
};

struct RawSample {
  std::string frame;
  std::int64_t time_ns = 0;
  std::int32_t pid = 0;
  std::int32_t tid = 0;
};

// "render(http://localhost:8081/index.bundle:10:5)": the name without the place behind it.
std::string_view without_place(std::string_view name) {
  const std::size_t open = name.rfind('(');
  const bool has_place = name.ends_with(')') && open != std::string_view::npos && open != 0 &&
                         name.substr(open).find(':') != std::string_view::npos;
  return has_place ? name.substr(0, open) : name;
}

// The file of that place.
std::string_view file_of(std::string_view name) {
  std::string_view place = name.substr(without_place(name).size());
  if (place.size() < 3) return {};
  place = place.substr(1, place.size() - 2);
  for (int numbers = 0; numbers < 2; ++numbers) {
    const std::size_t colon = place.rfind(':');
    if (colon == std::string_view::npos || !parse_number<std::uint32_t>(place.substr(colon + 1))) break;
    place = place.substr(0, colon);
  }
  return place;
}

class HermesReader {
 public:
  HermesReader(ByteSource& source, Progress* progress) : source_(source), reader_(source, progress) {}

  Result<Profile> read() {
    auto members = reader_.object();
    while (const auto key = members.next()) {
      if (*key == "samples") {
        auto elements = reader_.array();
        while (elements.next()) read_sample();
      } else if (*key == "stackFrames") {
        read_frames();
      }
    }
    const bool any = !samples_.empty();
    if (const auto finished = reader_.finish(profile_.diagnostics, any); !finished)
      return std::unexpected(finished.error());
    if (!any)
      return fail(ErrorCode::kInvalidInput,
                  fmt::format("{}: a trace of Hermes without samples", source_.name()));
    build();
    return std::move(profile_);
  }

 private:
  // Numbers stand in quotes at times.
  std::string read_text() {
    if (reader_.peek() == json::Type::kNumber) {
      const auto number = reader_.number();
      return fmt::format("{}", number ? number->rounded() : 0);
    }
    return std::string(reader_.string().value_or(""));
  }

  void read_sample() {
    RawSample sample;
    auto members = reader_.object();
    while (const auto key = members.next()) {
      if (*key == "sf") {
        sample.frame = read_text();
      } else if (*key == "ts") {
        const auto time = reader_.number();
        sample.time_ns = time ? time->scaled(kMicrosecondDecimals) : 0;
      } else if (*key == "pid") {
        sample.pid = json::read_id(reader_);
      } else if (*key == "tid") {
        sample.tid = json::read_id(reader_);
      }
    }
    if (!reader_.failed()) samples_.push_back(std::move(sample));
  }

  void read_frames() {
    auto frames = reader_.object();
    while (const auto id = frames.next()) {
      const std::string number(*id);
      std::string name;
      std::string category;
      RawFrame raw;
      Frame frame;
      auto members = reader_.object();
      while (const auto key = members.next()) {
        if (*key == "name") {
          name = reader_.string().value_or("");
        } else if (*key == "category") {
          category = reader_.string().value_or("");
        } else if (*key == "parent") {
          raw.parent = read_text();
        } else if (*key == "line") {
          frame.line = json::read_place(reader_);
        } else if (*key == "column") {
          frame.column = json::read_place(reader_);
        } else if (*key == "funcLine") {
          frame.function_line = json::read_place(reader_);
        } else if (*key == "funcColumn") {
          frame.function_column = json::read_place(reader_);
        }
      }
      raw.frame = profile_.frames.intern(finished(frame, name, category));
      frames_.insert_or_assign(number, raw);
    }
  }

  Frame finished(Frame frame, std::string_view name, std::string_view category) {
    const std::string_view function = without_place(name);
    if (function == "[root]") root_name_ = profile_.strings.intern(function);
    frame.function = profile_.strings.intern(function == "anonymous" ? "" : function);
    frame.file = profile_.strings.intern(file_of(name));
    const bool collects = function.starts_with("[GC") || category == "GC";
    frame.kind = collects                   ? FrameKind::kGc
                 : category == "JavaScript" ? FrameKind::kJs
                 : category == "Native"     ? FrameKind::kNative
                                            : FrameKind::kUnknown;
    if (frame.line == 0) {
      frame.line = std::exchange(frame.function_line, 0);
      frame.column = std::exchange(frame.function_column, 0);
    }
    return frame;
  }

  // ---------------------------------------------------------------- building

  void build() {
    std::map<std::pair<std::int32_t, std::int32_t>, std::vector<std::size_t>> by_thread;
    for (std::size_t i = 0; i < samples_.size(); ++i)
      by_thread[{samples_[i].pid, samples_[i].tid}].push_back(i);
    const EventId event = profile_.intern_event("wall", Unit::kNanoseconds);
    for (auto& [ids, indices] : by_thread) {
      const ThreadId thread = profile_.intern_thread(profile_.intern_process(ids.first, ""), ids.second, "");
      build_thread(indices, profile_.samples.intern({thread, kUnknownCpu, event}));
    }
  }

  // A sample lasts until the next one, the last one as long as the others do on average.
  void build_thread(std::vector<std::size_t>& indices, ContextId context) {
    std::ranges::stable_sort(indices, {}, [&](std::size_t i) { return samples_[i].time_ns; });
    const auto time_of = [&](std::size_t k) {
      return static_cast<std::uint64_t>(samples_[indices[k]].time_ns);
    };
    const std::size_t last = indices.size() - 1;
    const std::uint64_t average = last == 0 ? 0 : (time_of(last) - time_of(0)) / last;
    for (std::size_t k = 0; k < indices.size(); ++k) {
      const RawSample& sample = samples_[indices[k]];
      profile_.samples.add(sample.time_ns, stack_of(sample.frame), context,
                           k == last ? average : time_of(k + 1) - time_of(k));
    }
  }

  StackId stack_of(const std::string& id) {
    path_.clear();
    const std::string* next = &id;
    while (!next->empty() && !stacks_.contains(*next)) {
      const auto found = frames_.find(*next);
      if (found == frames_.end()) {
        profile_.diagnostics.warn("a frame does not exist: what calls it is not known");
        break;
      }
      stacks_.emplace(*next, kEmptyStack);  // who calls itself is outermost
      path_.push_back(&*found);
      next = &found->second.parent;
    }
    const auto known = stacks_.find(*next);
    StackId stack = known == stacks_.end() ? kEmptyStack : known->second;
    for (auto step = path_.rbegin(); step != path_.rend(); ++step) {
      const FrameId frame = (*step)->second.frame;
      const bool is_root =
          stack == kEmptyStack && profile_.frames[frame].function == root_name_ && root_name_ != StringId{};
      if (!is_root) stack = profile_.stacks.push(stack, frame);
      stacks_[(*step)->first] = stack;
    }
    return stack;
  }

  ByteSource& source_;
  json::Reader reader_;
  Profile profile_;
  std::map<std::string, RawFrame> frames_;
  std::map<std::string, StackId> stacks_;
  std::vector<const std::pair<const std::string, RawFrame>*> path_;
  std::vector<RawSample> samples_;
  StringId root_name_;
};

bool recognise_hermes(std::string_view head) {
  return json::outline_of(head).has("samples[].sf");
}

Result<Profile> read_hermes(ByteSource& source, const ReadOptions& options) {
  return HermesReader(source, options.progress).read();
}

}  // namespace

const Format kHermesFormat = {
    .name = "hermes",
    .extension = "",
    .description = "sampled traces of Hermes (React Native)",
    .recognise = recognise_hermes,
    .read = read_hermes,
    .write = nullptr,
};

}  // namespace nodescope
