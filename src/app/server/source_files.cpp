#include "app/server/source_files.h"

#include <cstdint>
#include <optional>

#include "base/text.h"
#include "os/file.h"

namespace nodescope::server {

namespace {

constexpr std::uint64_t kMaxBytes = 8u << 20;
constexpr std::uint64_t kMaxMapBytes = 32u << 20;  // of a bundle
constexpr std::string_view kFileScheme = "file://";

std::string_view folder_of(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : name.substr(0, slash + 1);
}

// Where a name can be a file of this machine: "/app/a.js", "file:///app/a.js".  Others are "node:fs",
// "wasm://…".
std::optional<std::string> path_of(const std::string& name) {
  if (name.starts_with('/')) return name;
  if (!name.starts_with(kFileScheme)) return std::nullopt;
  std::string escaped = name.substr(kFileScheme.size());
  // In the path of an address a + stands for itself.
  for (std::size_t plus = escaped.find('+'); plus != std::string::npos; plus = escaped.find('+', plus))
    escaped.replace(plus, 1, "%2B");
  auto path = decode_query_value(escaped);
  if (!path || !path->starts_with('/') || path->contains('\0')) return std::nullopt;
  return path;
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
  const auto path = path_of(name);
  const std::uint64_t limit = name.ends_with(".map") ? kMaxMapBytes : kMaxBytes;
  auto content = path ? read_regular_file(*path, limit) : fail(ErrorCode::kNotFound, "");
  // /proc has files without a size, which are no sources.
  if (!content || content->empty())
    return fail(ErrorCode::kNotFound, "This file is not at hand: not here, not a plain file, or too large.");
  return content;
}

}  // namespace nodescope::server
