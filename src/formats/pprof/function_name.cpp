#include "formats/pprof/function_name.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "formats/symbol_name.h"

namespace nodescope::pprof {

namespace {

constexpr std::string_view kMark = "nodescope:";
constexpr std::string_view kInlined = "inlined";
constexpr std::string_view kUnnamed = "unnamed";
constexpr std::string_view kAnonymous = "(anonymous)";
constexpr std::string_view kUnknown = "[unknown]";

// "nodescope:js,turbofan,inlined,unnamed,25": a kind, then what else there is; a number is the column where
// the function begins.
struct Mark {
  FrameKind kind = FrameKind::kUnknown;
  JsTier tier = JsTier::kNone;
  bool inlined = false;
  bool unnamed = false;
  std::uint32_t function_column = 0;
};

bool add_word(Mark& mark, std::string_view word) {
  const auto tier = js_tier_of(word);
  const auto column = parse_number<std::uint32_t>(word);
  if (tier) mark.tier = *tier;
  if (column) mark.function_column = *column;
  mark.inlined = mark.inlined || word == kInlined;
  mark.unnamed = mark.unnamed || word == kUnnamed;
  return tier || column || word == kInlined || word == kUnnamed;
}

std::optional<Mark> parse_mark(std::string_view text) {
  if (!text.starts_with(kMark)) return std::nullopt;
  text.remove_prefix(kMark.size());
  const std::size_t end = std::min(text.find(','), text.size());
  const auto kind = frame_kind_of(text.substr(0, end));
  if (!kind) return std::nullopt;
  Mark mark{.kind = *kind};
  text.remove_prefix(end);
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(word.size());
    if (!add_word(mark, word)) return std::nullopt;
  }
  return mark;
}

std::string to_string(const Mark& mark) {
  std::string text = std::string(kMark) + std::string(nodescope::to_string(mark.kind));
  if (mark.tier != JsTier::kNone) text += "," + std::string(nodescope::to_string(mark.tier));
  if (mark.inlined) text += "," + std::string(kInlined);
  if (mark.unnamed) text += "," + std::string(kUnnamed);
  if (mark.function_column != 0) text += "," + std::to_string(mark.function_column);
  return text;
}

// What pprof-nodejs and others give without a module: "file:///app/x.mjs", "node:internal/timers",
// "/app/x.ts".
bool is_script(std::string_view file) {
  constexpr std::array<std::string_view, 7> kEndings = {".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx"};
  return file.starts_with("node:") ||
         std::ranges::any_of(kEndings, [&](std::string_view ending) { return file.ends_with(ending); });
}

bool is_placeholder(std::string_view name) {
  return name == kAnonymous || name == kUnknown;
}

std::string_view placeholder_of(FrameKind kind) {
  return kind == FrameKind::kJs ? kAnonymous : kUnknown;
}

Frame marked_frame(Profile& profile, const FunctionText& text, const Mark& mark) {
  Frame frame;
  if (!mark.unnamed) frame.function = profile.strings.intern(text.name);
  frame.file = profile.strings.intern(text.file);
  frame.module = profile.strings.intern(text.module);
  frame.line = text.line;
  frame.column = text.column;
  frame.function_line = text.function_line;
  frame.function_column = mark.function_column;
  frame.kind = mark.kind;
  frame.tier = mark.tier;
  return frame;
}

// Whether `a` of one profile says the same as `b` of another.
bool same(const Profile& of_a, const Frame& a, const Profile& of_b, const Frame& b) {
  return of_a.text(a.function) == of_b.text(b.function) && of_a.text(a.file) == of_b.text(b.file) &&
         of_a.text(a.module) == of_b.text(b.module) && a.line == b.line && a.column == b.column &&
         a.function_line == b.function_line && a.function_column == b.function_column && a.kind == b.kind &&
         a.tier == b.tier && a.inlined == b.inlined;
}

}  // namespace

Frame frame_of_function(Profile& profile, const FunctionText& text, bool inlined) {
  if (const auto mark = parse_mark(text.system_name)) {
    Frame frame = marked_frame(profile, text, *mark);
    frame.inlined = inlined || mark->inlined;
    return frame;
  }
  const bool system_name_tells = parse_symbol_name(text.system_name).kind != FrameKind::kUnknown;
  const bool by_system_name = system_name_tells || text.name.empty();
  Frame frame = frame_of_symbol(profile, by_system_name ? text.system_name : text.name, text.module, inlined);
  // What pprof says in its own fields counts more than what can be read out of a name.
  const bool stands_for_nothing = is_placeholder(text.name) && frame.function == StringId{};
  if (by_system_name && !text.name.empty() && !stands_for_nothing)
    frame.function = profile.strings.intern(text.name);
  if (!text.file.empty()) frame.file = profile.strings.intern(text.file);
  if (text.line != 0 || text.column != 0) {
    const bool in_function = frame.line != 0 && (frame.line != text.line || frame.column != text.column);
    if (in_function && frame.kind == FrameKind::kJs) {  // V8's name has the place where the function begins
      frame.function_line = frame.line;
      frame.function_column = frame.column;
    }
    frame.line = text.line;
    frame.column = text.column;
  }
  const bool name_tells = frame.kind != FrameKind::kNative && frame.kind != FrameKind::kUnknown;
  if (!name_tells && frame.function != StringId{}) {
    frame.kind = is_script(text.file)  ? FrameKind::kJs
                 : text.module.empty() ? FrameKind::kUnknown
                                       : FrameKind::kNative;
  }
  const std::uint32_t begin = text.function_line != 0 ? text.function_line : text.first_line;
  const bool is_inside = frame.line != begin || frame.column != 0;
  if (frame.kind == FrameKind::kJs && frame.line != 0 && frame.function_line == 0 && is_inside)
    frame.function_line = begin;
  return frame;
}

FunctionNames names_of_frame(const Profile& profile, const Frame& frame, bool inlined, Profile& scratch) {
  const std::string_view function = profile.text(frame.function);
  FunctionNames names{std::string(function.empty() ? placeholder_of(frame.kind) : function),
                      symbol_of_frame(profile, frame)};
  const FunctionText text{names.name, names.system_name, profile.text(frame.file), profile.text(frame.module),
                          frame.line, frame.column,      frame.function_line};
  if (!same(scratch, frame_of_function(scratch, text, inlined), profile, frame)) {
    names.system_name = to_string(
        Mark{frame.kind, frame.tier, frame.inlined && !inlined, function.empty(), frame.function_column});
  }
  return names;
}

}  // namespace nodescope::pprof
