#include "app/source_files.h"

#include <cstdint>

#include "capture/source_keeper.h"
#include "os/file.h"

namespace nodescope {

namespace {

constexpr std::uint64_t kMaxBytes = 8u << 20;
constexpr std::uint64_t kMaxMapBytes = 32u << 20;  // of a bundle

std::string_view folder_of(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : name.substr(0, slash + 1);
}

}  // namespace

void SourceFiles::add(const Profile& profile) {
  if (profile.facts.contains("container")) return;
  for (std::size_t i = 0; i < profile.frames.size(); ++i) {
    const std::string_view file = profile.text(profile.frames[FrameId{i}].file);
    if (file.empty() || file.contains('\0')) continue;
    if (names_.emplace(file).second) folders_.emplace(folder_of(file));
  }
}

bool SourceFiles::allows(std::string_view name) const {
  return names_.contains(std::string(name)) || (name.ends_with(".map") && !name.ends_with("/.map") &&
                                                folders_.contains(std::string(folder_of(name))));
}

Result<std::string> SourceFiles::read(const std::string& name) const {
  if (!allows(name)) return fail(ErrorCode::kPermission, "No frame of a loaded recording names this file.");
  const auto path = path_of_source(name);
  const std::uint64_t limit = name.ends_with(".map") ? kMaxMapBytes : kMaxBytes;
  auto content = path ? read_regular_file(*path, limit) : fail(ErrorCode::kNotFound, "");
  // /proc has files without a size, which are no sources.
  if (!content || content->empty())
    return fail(ErrorCode::kNotFound, "This file is not at hand: not here, not a plain file, or too large.");
  return content;
}

void keep_sources_of_disk(Profile& profile) {
  if (!profile.sources.empty()) return;
  if (profile.facts.contains("container")) {
    profile.diagnostics.info("source files that were not kept", "those of a container are not on this disk");
    return;
  }
  SourceKeeper().keep_new(profile, read_regular_file);
}

}  // namespace nodescope
