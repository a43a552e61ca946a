#include "app/source_files.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "capture/source_keeper.h"
#include "os/file.h"
#include "source_maps/map_location.h"
#include "source_maps/source_names.h"

namespace nodescope {

namespace {

constexpr std::uint64_t kMaxBytes = 8u << 20;
constexpr std::uint64_t kMaxMapBytes = 32u << 20;  // of a bundle

Result<std::string> read_source(const std::optional<std::string>& path, std::uint64_t limit) {
  auto content = path ? read_regular_file(*path, limit) : fail(ErrorCode::kNotFound, "");
  // /proc has files without a size, which are no sources.
  if (!content || content->empty())
    return fail(ErrorCode::kNotFound, "This file is not at hand: not here, not a plain file, or too large.");
  return content;
}

// "/app/dist/main.js" of "t /app/dist/main.js:1:4821".
std::string_view file_of_generated(std::string_view generated) {
  const std::size_t begin = std::min(generated.find(" /"), generated.find(" file:///"));
  if (begin == std::string_view::npos) return {};
  generated.remove_prefix(begin + 1);
  for (int i = 0; i < 2; ++i) generated = generated.substr(0, generated.rfind(':'));
  return generated;
}

// A source map can name any file: what it leads to has to be of the same project.
bool may_be_read(const Profile& profile, const Frame& frame) {
  const std::string_view file = profile.text(frame.file);
  if (file.empty() || file.contains('\0')) return false;
  return frame.generated == StringId{} ||
         may_be_original(file_of_generated(profile.text(frame.generated)), file);
}

// What the frames were made from, where maps have led to it.
std::unordered_set<std::string_view> mapped_sources(const Profile& profile) {
  std::unordered_set<std::string_view> names;
  for (std::size_t i = 0; i < profile.frames.size(); ++i) {
    const Frame& frame = profile.frames[FrameId{i}];
    if (frame.generated != StringId{}) names.insert(profile.text(frame.file));
  }
  return names;
}

bool was_recorded_with_sources(const Profile& profile) {
  const auto mapped = mapped_sources(profile);
  return std::ranges::any_of(
      profile.sources, [&](const SourceText& source) { return !mapped.contains(profile.text(source.file)); });
}

}  // namespace

void SourceFiles::add(const Profile& profile) {
  if (profile.facts.contains("container")) return;
  for (std::size_t i = 0; i < profile.frames.size(); ++i) {
    const Frame& frame = profile.frames[FrameId{i}];
    if (!may_be_read(profile, frame)) continue;
    const std::string_view file = profile.text(frame.file);
    if (names_.emplace(file).second) folders_.emplace(folder_of_source(file));
  }
}

bool SourceFiles::allows(std::string_view name) const {
  return names_.contains(std::string(name)) || (name.ends_with(".map") && !name.ends_with("/.map") &&
                                                folders_.contains(std::string(folder_of_source(name))));
}

Result<std::string> SourceFiles::read(const std::string& name) const {
  if (!allows(name)) return fail(ErrorCode::kPermission, "No frame of a loaded recording names this file.");
  return read_source(path_of_source(name), name.ends_with(".map") ? kMaxMapBytes : kMaxBytes);
}

Result<std::string> SourceFiles::read_original(const std::string& path, const std::string& generated) {
  if (generated_ != generated) {
    originals_ = originals_of(generated);
    generated_ = generated;
  }
  if (std::ranges::find(originals_, path) == originals_.end())
    return fail(ErrorCode::kPermission, "No source map of a loaded recording leads to this file.");
  return read_source(path, kMaxBytes);
}

std::vector<std::string> SourceFiles::originals_of(const std::string& generated) const {
  const auto text = read(generated);
  if (!text) return {};
  if (const auto inside = source_map_inside(*text)) return originals_without_text(generated, *inside);
  const auto name = name_of_source_map(generated, *text);
  const auto map = name ? read(*name) : fail(ErrorCode::kNotFound, "");
  return map ? originals_without_text(*name, *map) : std::vector<std::string>();
}

void keep_sources_of_disk(Profile& profile) {
  if (was_recorded_with_sources(profile)) return;
  if (profile.facts.contains("container")) {
    profile.diagnostics.info("source files that were not kept", "those of a container are not on this disk");
    return;
  }
  SourceKeeper().keep_new(profile, [](const std::string& path, std::uint64_t limit) -> Result<SourceFile> {
    auto text = read_regular_file(path, limit);
    if (!text) return std::unexpected(text.error());
    return SourceFile{std::move(*text), path};  // it is no link
  });
}

}  // namespace nodescope
