#include "formats/speedscope/shared_frames.h"

#include <algorithm>
#include <array>
#include <limits>

#include "formats/cpuprofile/v8_call_frame.h"
#include "formats/json_extra.h"
#include "formats/symbol_name.h"

namespace nodescope {

namespace {

struct RawFrame {
  StringId name;
  StringId file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  json::FrameExtra extra;
  bool unnamed = false;  // ours: `name` is only for show
  bool empty = false;    // ours: stands for a stack without frames
};

bool is_javascript(std::string_view file) {
  constexpr std::array<std::string_view, 8> kEndings = {".js",  ".mjs", ".cjs", ".ts",
                                                        ".mts", ".cts", ".jsx", ".tsx"};
  return file.starts_with("node:") ||
         std::ranges::any_of(kEndings, [&](std::string_view ending) { return file.ends_with(ending); });
}

// Other programs write names only.  With a file the name is whole; without one it may be a symbol as perf has
// it.
Frame frame_of_name(Profile& profile, const RawFrame& raw) {
  const std::string_view name = profile.text(raw.name);
  const std::string_view file = profile.text(raw.file);
  if (file.empty()) {
    if (const auto kind = kind_of_pseudo_frame(name)) {
      Frame frame;
      frame.function = raw.name;
      frame.kind = *kind;
      return frame;
    }
    return frame_of_symbol(profile, name, {});
  }
  Frame frame;
  frame.function = raw.name;
  frame.file = raw.file;
  frame.kind = is_javascript(file) ? FrameKind::kJs : FrameKind::kNative;
  return frame;
}

Frame understand(Profile& profile, const RawFrame& raw) {
  Frame frame;
  if (raw.extra.kind) {
    frame.function = raw.unnamed ? StringId{} : raw.name;
    frame.file = raw.file;
    frame.module = raw.extra.module;
    frame.generated = raw.extra.generated;
    frame.kind = *raw.extra.kind;
    frame.tier = raw.extra.tier;
    frame.inlined = raw.extra.inlined;
    frame.function_line = raw.extra.function_line;
    frame.function_column = raw.extra.function_column;
  } else {
    frame = frame_of_name(profile, raw);
  }
  if (raw.line != 0) frame.line = raw.line;
  if (raw.column != 0) frame.column = raw.column;
  return frame;
}

void read_extra(json::Reader& reader, RawFrame& raw, Profile& profile) {
  auto members = reader.object();
  while (const auto key = members.next()) {
    if (*key == "unnamed") {
      raw.unnamed = reader.boolean().value_or(false);
    } else if (*key == "empty") {
      raw.empty = reader.boolean().value_or(false);
    } else {
      raw.extra.read_member(reader, *key, profile);
    }
  }
}

}  // namespace

void SharedFrames::read(json::Reader& reader, Profile& profile) {
  auto elements = reader.array();
  while (elements.next()) frames_.push_back(read_frame(reader, profile));
}

std::optional<FrameId> SharedFrames::read_frame(json::Reader& reader, Profile& profile) {
  RawFrame raw;
  auto members = reader.object();
  while (const auto key = members.next()) {
    if (*key == "name") {
      raw.name = json::read_interned(reader, profile);
    } else if (*key == "file") {
      raw.file = json::read_interned(reader, profile);
    } else if (*key == "line") {
      raw.line = json::read_place(reader);
    } else if (*key == "col") {
      raw.column = json::read_place(reader);
    } else if (*key == json::kExtraKey) {
      read_extra(reader, raw, profile);
    }
  }
  if (raw.empty) return std::nullopt;
  return profile.frames.intern(understand(profile, raw));
}

}  // namespace nodescope
