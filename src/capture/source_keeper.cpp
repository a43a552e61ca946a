#include "capture/source_keeper.h"

#include <fmt/format.h>

#include <algorithm>

#include "source_maps/map_location.h"
#include "source_maps/source_names.h"

namespace nodescope {

namespace {

// So that a recording stays one that can be mailed.
constexpr std::uint64_t kMaxFileBytes = 8u << 20;
constexpr std::uint64_t kMaxAllBytes = 64u << 20;

constexpr std::string_view kNotKept = "source files that were not kept";
// Packages come with maps and without what these lead to: nothing that is worth a look.
constexpr std::string_view kOriginalsNotKept = "originals of source maps that were not kept";

// Whoever made a profile can name any file in it, a key or a list of passwords, and be sent what was kept.
// What a link is called says nothing.
bool looks_like_source(std::string_view real_path, std::string_view text) {
  return ends_like_javascript(real_path) || text.starts_with("#!");
}

bool looks_like_original(std::string_view real_path, std::string_view) {
  return ends_like_original(real_path);
}

bool looks_like_source_map(std::string_view, std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return false;
  // The second keeps browsers from running it.
  return (text[begin] == '{' || text.substr(begin).starts_with(")]}'")) && text.contains("\"mappings\"");
}

}  // namespace

void SourceKeeper::keep_new(Profile& profile, const Read& read) {
  for (; frames_seen_ < profile.frames.size(); ++frames_seen_) {
    const Frame& frame = profile.frames[FrameId{frames_seen_}];
    if (frame.kind != FrameKind::kJs || frame.file == StringId{}) continue;
    keep_with_originals(profile, frame.file, read);
  }
}

void SourceKeeper::keep_named(Profile& profile, StringId file, std::int32_t pid, const Read& read) {
  asker_ = pid;
  keep_with_originals(profile, file, read);
}

void SourceKeeper::keep_with_originals(Profile& profile, StringId file, const Read& read) {
  const std::string name(profile.text(file));
  const std::string* text = keep(profile, name, read, {looks_like_source, kNotKept});
  // A copy: what is kept next may move it.
  if (text != nullptr) keep_originals(profile, name, std::string(*text), read);
}

void SourceKeeper::keep_originals(Profile& profile, const std::string& name, const std::string& text,
                                  const Read& read) {
  std::vector<std::string> originals;
  if (const auto map = name_of_source_map(name, text)) {
    const std::string* map_text = keep(profile, *map, read, {looks_like_source_map, kNotKept});
    if (map_text != nullptr) originals = originals_without_text(*map, *map_text);
  } else if (const auto inside = source_map_inside(text)) {
    originals = originals_without_text(name, *inside);
  }
  for (const std::string& original : originals)
    keep(profile, original, read, {looks_like_original, kOriginalsNotKept});
}

const std::string* SourceKeeper::keep(Profile& profile, std::string_view name, const Read& read,
                                      const Rule& rule) {
  const auto path = path_of_source(name);
  if (!path || kept_.contains(std::string(name)) || profile.find_source(name) != nullptr ||
      !tried_.emplace(fmt::format("{} {}", asker_, name)).second)
    return nullptr;
  auto file = read(*path, std::min(kMaxFileBytes, kMaxAllBytes - bytes_));
  if (file && !rule.looks_right(file->real_path, file->text))
    file = fail(ErrorCode::kUnsupported, *path + " looks like no source");
  if (!file) {
    profile.diagnostics.info(rule.otherwise, file.error().message);
    return nullptr;
  }
  bytes_ += file->text.size();
  kept_.emplace(name);
  profile.sources.push_back({profile.strings.intern(name), std::move(file->text)});
  return &profile.sources.back().text;
}

}  // namespace nodescope
