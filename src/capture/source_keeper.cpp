#include "capture/source_keeper.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace nodescope {

namespace {

constexpr std::string_view kFileScheme = "file://";
constexpr std::string_view kMapMark = "sourceMappingURL=";
// Where a map is asked for: in the last line, as compilers write it.
constexpr std::size_t kMapMarkBytes = 4096;

// So that a recording stays one that can be mailed.
constexpr std::uint64_t kMaxFileBytes = 8u << 20;
constexpr std::uint64_t kMaxAllBytes = 64u << 20;

std::optional<std::string> decode_path(std::string_view text) {
  std::string escaped(text);
  // In the path of an address a + stands for itself.
  for (std::size_t plus = escaped.find('+'); plus != std::string::npos; plus = escaped.find('+', plus))
    escaped.replace(plus, 1, "%2B");
  auto path = decode_query_value(escaped);
  if (!path || path->contains('\0')) return std::nullopt;
  return path;
}

bool is_space_or_quote(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\'' || c == '"';
}

// Whoever made a profile can name any file in it, a key or a list of passwords, and be sent what was kept.
bool looks_like_source(std::string_view name, std::string_view text) {
  constexpr auto kEndings =
      std::to_array<std::string_view>({".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx"});
  return std::ranges::any_of(kEndings, [&](std::string_view ending) { return name.ends_with(ending); }) ||
         text.starts_with("#!");
}

bool looks_like_source_map(std::string_view, std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return false;
  // The second keeps browsers from running it.
  return (text[begin] == '{' || text.substr(begin).starts_with(")]}'")) && text.contains("\"mappings\"");
}

}  // namespace

std::optional<std::string> path_of_source(std::string_view name) {
  if (name.starts_with('/') && !name.contains('\0')) return std::string(name);
  if (!name.starts_with(kFileScheme)) return std::nullopt;
  auto path = decode_path(name.substr(kFileScheme.size()));
  if (!path || !path->starts_with('/')) return std::nullopt;
  return path;
}

std::optional<std::string> name_of_source_map(std::string_view name, std::string_view text) {
  const std::string_view tail = text.substr(text.size() - std::min(text.size(), kMapMarkBytes));
  const std::size_t mark = tail.rfind(kMapMark);
  if (mark == std::string_view::npos) return std::nullopt;
  std::string_view address = tail.substr(mark + kMapMark.size());
  address = address.substr(
      0, static_cast<std::size_t>(std::ranges::find_if(address, is_space_or_quote) - address.begin()));
  if (address.empty() || address.starts_with("data:") || address.contains("://")) return std::nullopt;
  const std::size_t slash = name.rfind('/');
  const auto file = decode_path(address);
  if (!file || slash == std::string_view::npos) return std::nullopt;
  return std::string(name.substr(0, slash + 1)) + *file;
}

void SourceKeeper::keep_new(Profile& profile, const Read& read) {
  for (; frames_seen_ < profile.frames.size(); ++frames_seen_) {
    const Frame& frame = profile.frames[FrameId{frames_seen_}];
    if (frame.kind != FrameKind::kJs || frame.file == StringId{}) continue;
    const std::string name(profile.text(frame.file));
    const std::string* text = keep(profile, name, read, looks_like_source);
    if (text == nullptr) continue;
    if (const auto map = name_of_source_map(name, *text)) keep(profile, *map, read, looks_like_source_map);
  }
}

const std::string* SourceKeeper::keep(Profile& profile, std::string_view name, const Read& read,
                                      LooksRight looks_right) {
  const auto path = path_of_source(name);
  if (!path || !names_.emplace(name).second) return nullptr;
  auto text = read(*path, std::min(kMaxFileBytes, kMaxAllBytes - bytes_));
  if (text && !looks_right(name, *text))
    text = fail(ErrorCode::kUnsupported, *path + " looks like no source");
  if (!text) {
    profile.diagnostics.info("source files that were not kept", text.error().message);
    return nullptr;
  }
  bytes_ += text->size();
  profile.sources.push_back({profile.strings.intern(name), std::move(*text)});
  return &profile.sources.back().text;
}

}  // namespace nodescope
