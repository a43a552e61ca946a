#include "source_maps/apply.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "model/name_marks.h"
#include "source_maps/file_mapping.h"
#include "source_maps/map_location.h"
#include "source_maps/source_names.h"

namespace nodescope {

namespace {

constexpr std::uint64_t kMaxTextBytes = 64u << 20;
constexpr std::uint64_t kMaxMapBytes = 256u << 20;
constexpr std::uint64_t kMaxOriginalBytes = 8u << 20;
// All together: whoever made the profile can name any number of files.
constexpr std::uint64_t kMaxReadBytes = 2ull << 30;
constexpr std::uint64_t kMaxKeptBytes = 64u << 20;
constexpr std::size_t kMaxFunctionBytes = 1000;
// Each is a line of what `info` says.
constexpr std::size_t kMaxNamedMaps = 20;

constexpr std::string_view kMissing = "source maps that files ask for are missing";
constexpr std::string_view kTooMuch = "source maps are left out after 2 GB of files";
constexpr std::string_view kNotApplied = "source maps that were not applied";

// Formats in which a function is told by the place where it begins, as V8 does.
bool places_are_begins(const Profile& profile) {
  const auto format = profile.facts.find("format");
  return format != profile.facts.end() &&
         (format->second == "cpuprofile" || format->second == "heapprofile" ||
          format->second == "perf-script" || format->second == "perf.data" || format->second == "perf-data" ||
          format->second == "trace-events" || format->second == "folded");
}

std::string_view last_part(std::string_view function) {
  return function.substr(function.rfind('.') + 1);
}

class ProfileMapper {
 public:
  ProfileMapper(Profile& profile, const MapSources& sources)
      : profile_(profile),
        sources_(sources),
        told_(profile.diagnostics),
        are_begins_(places_are_begins(profile)) {}

  void run() {
    std::map<StringId, std::vector<FrameId>> by_file;
    for (std::size_t i = 0; i < profile_.frames.size(); ++i) {
      const Frame& frame = profile_.frames[FrameId{i}];
      const bool can_have_map = frame.kind == FrameKind::kJs && frame.line != 0 &&
                                frame.generated == StringId{} && path_of_source(profile_.text(frame.file));
      if (can_have_map) by_file[frame.file].emplace_back(i);
    }
    for (const auto& [file, frames] : by_file) map_file(std::string(profile_.text(file)), frames);
    if (mapped_files_ != 0) profile_.facts[std::string(kSourceMapsFact)] = summary();
  }

 private:
  std::string summary() const {
    std::string text =
        fmt::format("{} {} mapped to sources", mapped_files_, mapped_files_ == 1 ? "file" : "files");
    if (unmapped_files_ != 0) text += fmt::format(", {} not", unmapped_files_);
    return text;
  }

  // As the recording has it, else as it is now.
  std::optional<std::string> read(const std::string& name, std::uint64_t limit) {
    if (const SourceText* kept = profile_.find_source(name)) return kept->text;
    if (!sources_.read || bytes_read_ >= kMaxReadBytes) return std::nullopt;
    auto text = sources_.read(name, std::min(limit, kMaxReadBytes - bytes_read_));
    if (!text) return std::nullopt;
    bytes_read_ += text->size();
    if (bytes_read_ >= kMaxReadBytes) profile_.diagnostics.warn(kTooMuch, name);
    return std::move(*text);
  }

  void map_file(const std::string& file, const std::vector<FrameId>& frames) {
    auto text = read(file, kMaxTextBytes);
    auto found = find_map(file, text ? &*text : nullptr);
    if (!found) return;
    if (!text) text = std::move(found->generated);
    auto map = SourceMap::parse(std::move(found->text), found->name);
    if (!map) return refuse(map.error().message);
    const std::string debug_id = text ? debug_id_of(*text) : std::string();
    if (!debug_id.empty() && !map->debug_id().empty() && debug_id != map->debug_id())
      return refuse(fmt::format("{}: stale: its debugId is not that of {}", map->name(), file));
    if (text) map->shift_first_line(added_in_front(*text));
    const ReadOriginal read_original = [this](const std::string& path) {
      return read(path, kMaxOriginalBytes);
    };
    const FileMapping mapping =
        map_places(*map, text ? &*text : nullptr, wanted_places(frames), read_original);
    if (!mapping.problem.empty()) return refuse(fmt::format("{}: {}", map->name(), mapping.problem));
    apply(*map, file, frames, mapping);
  }

  bool is_kept(const std::string& file) const { return profile_.find_source(file) != nullptr; }

  void keep_texts(const SourceMap& map, const std::map<std::uint32_t, StringId>& names) {
    for (const auto& [source, name] : names) {
      if (kept_bytes_ > kMaxKeptBytes || is_kept(std::string(profile_.text(name)))) continue;
      auto content = map.content(source);
      if (!content || content->size() > kMaxOriginalBytes) continue;
      kept_bytes_ += content->size();
      profile_.sources.push_back({name, std::move(*content)});
    }
  }

  void refuse(const std::string& why) { leave_out(Severity::kWarning, kNotApplied, why); }

  // A recording that was mapped before tells it already.
  void leave_out(Severity severity, std::string_view what, const std::string& example) {
    ++unmapped_files_;
    if (told_.count(what) == 0) profile_.diagnostics.add(severity, what, example);
  }

  std::optional<FoundMap> find_map(const std::string& file, const std::string* text) {
    if (text != nullptr) {
      if (auto inside = source_map_inside(*text)) return FoundMap{std::move(*inside), file};
    }
    const auto named = text != nullptr ? name_of_source_map(file, *text) : std::nullopt;
    const std::string name = named.value_or(file + ".map");
    if (auto map = read(name, kMaxMapBytes)) return FoundMap{std::move(*map), name};
    auto elsewhere = sources_.find_elsewhere ? sources_.find_elsewhere(file, text) : std::nullopt;
    if (!elsewhere && named) leave_out(Severity::kInfo, kMissing, name);
    return elsewhere;
  }

  std::vector<GeneratedPlace> wanted_places(const std::vector<FrameId>& frames) const {
    std::vector<GeneratedPlace> wanted;
    for (const FrameId id : frames) {
      const Frame& frame = profile_.frames[id];
      wanted.push_back(
          {{frame.line, frame.column}, {frame.function_line, frame.function_column}, are_begins_});
    }
    return wanted;
  }

  void apply(const SourceMap& map, const std::string& file, const std::vector<FrameId>& frames,
             const FileMapping& mapping) {
    std::map<std::uint32_t, StringId> names;
    std::uint64_t mapped = 0;
    for (std::size_t i = 0; i < frames.size(); ++i) {
      const auto& original = mapping.places[i];
      if (!original) continue;
      auto [name, is_new] = names.try_emplace(original->source);
      if (is_new) name->second = profile_.strings.intern(map.source(original->source));
      Frame frame = led_there(profile_.frames[frames[i]], *original, name->second);
      if (map.is_ignored(original->source)) frame.module = profile_.strings.intern(kIgnoredModule);
      if (profile_.frames.replace(frames[i], frame)) ++mapped;
    }
    if (mapped == 0) return;
    ++mapped_files_;
    if (sources_.keeps_texts || is_kept(file)) keep_texts(map, names);
    const std::string what = mapped_files_ > kMaxNamedMaps
                                 ? std::string("places mapped to sources by further source maps")
                                 : fmt::format("places mapped to sources by {}", map.name());
    profile_.diagnostics.add(Severity::kInfo, what, file, mapped);
    if (mapped < frames.size())
      profile_.diagnostics.add(Severity::kInfo, "places that their source map leads to no source", file,
                               frames.size() - mapped);
  }

  Frame led_there(Frame frame, const OriginalPlace& original, StringId file) {
    const std::string function(profile_.text(frame.function));
    frame.generated = profile_.strings.intern(generated_text(frame, function));
    frame.function = profile_.strings.intern(function_name(function, original));
    frame.file = file;
    frame.line = original.place.line;
    frame.column = original.place.column;
    frame.function_line = original.function.line;
    frame.function_column = original.function.column;
    return frame;
  }

  std::string generated_text(const Frame& frame, const std::string& function) const {
    return fmt::format("{} {}:{}:{}", function.empty() ? "(anonymous)" : function, profile_.text(frame.file),
                       frame.line, frame.column);
  }

  // What the source calls the function; what V8 calls it where the source does not tell.
  static std::string function_name(std::string_view function, const OriginalPlace& original) {
    const bool is_async = function.starts_with(kAsyncMark);
    const std::string_view plain = is_async ? function.substr(kAsyncMark.size()) : function;
    std::string name(plain);
    if (original.naming == Naming::kAnonymous) name.clear();
    // V8 knows more of a name that was not changed: "Parser.parse".
    if (original.naming == Naming::kNamed && last_part(plain) != original.name)
      name = original.name.substr(0, kMaxFunctionBytes);
    return is_async ? std::string(kAsyncMark) + name : name;
  }

  Profile& profile_;
  const MapSources& sources_;
  const Diagnostics told_;  // before
  bool are_begins_;
  std::size_t mapped_files_ = 0;
  std::size_t unmapped_files_ = 0;
  std::uint64_t kept_bytes_ = 0;
  std::uint64_t bytes_read_ = 0;
};

}  // namespace

void apply_source_maps(Profile& profile, const MapSources& sources) {
  ProfileMapper(profile, sources).run();
}

}  // namespace nodescope
