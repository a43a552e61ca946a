#include "formats/cpuprofile/v8_call_frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

namespace nodescope {

namespace {

// The names that V8's profilers give to time and memory that belong to no function.  "(idle)" is kept as a
// frame of its own and of unknown kind: nothing ran.
struct PseudoFrame {
  std::string_view name;
  FrameKind kind;
};
constexpr std::array kPseudoFrames = {
    PseudoFrame{"(program)", FrameKind::kNative},
    PseudoFrame{"(idle)", FrameKind::kUnknown},
    PseudoFrame{"(garbage collector)", FrameKind::kGc},
    PseudoFrame{"(unresolved function)", FrameKind::kUnknown},
    PseudoFrame{"(GC)", FrameKind::kGc},  // from here on: of the sampling heap profiler
    PseudoFrame{"(IDLE)", FrameKind::kUnknown},
    PseudoFrame{"(JS)", FrameKind::kJs},
};

constexpr std::string_view kRootName = "(root)";
constexpr std::string_view kIdleName = "(idle)";
constexpr std::string_view kRegExpPrefix = "RegExp: ";

// What the plain members of a call frame say.
struct PlainFrame {
  std::string_view function;
  FrameKind kind = FrameKind::kUnknown;
};

FrameKind kind_without_file(std::string_view function, V8CallFrame::Script script, V8CallFrame::Code code) {
  if (code == V8CallFrame::Code::kJs || script == V8CallFrame::Script::kSome) return FrameKind::kJs;
  if (const auto pseudo = kind_of_pseudo_frame(function)) return *pseudo;
  if (script == V8CallFrame::Script::kNone || code == V8CallFrame::Code::kOther) return FrameKind::kNative;
  return function.empty() ? FrameKind::kUnknown : FrameKind::kJs;
}

PlainFrame understand(std::string_view function, std::string_view url, V8CallFrame::Script script,
                      V8CallFrame::Code code) {
  if (code == V8CallFrame::Code::kWasm || url.starts_with("wasm://")) return {function, FrameKind::kWasm};
  if (url.starts_with("native ")) return {function, FrameKind::kBuiltin};  // V8's own JavaScript, until 2019
  if (!url.empty()) return {function, FrameKind::kJs};
  if (script != V8CallFrame::Script::kSome && function.starts_with(kRegExpPrefix)) {
    return {function.substr(kRegExpPrefix.size()), FrameKind::kRegExp};
  }
  return {function, kind_without_file(function, script, code)};
}

V8CallFrame::Script read_script(json::Reader& reader) {
  if (reader.peek() == json::Type::kNumber) {
    const auto number = reader.number();
    return number && number->digits != 0 ? V8CallFrame::Script::kSome : V8CallFrame::Script::kNone;
  }
  const auto text = reader.string();
  if (!text) return V8CallFrame::Script::kNotSaid;
  return text->empty() || *text == "0" ? V8CallFrame::Script::kNone : V8CallFrame::Script::kSome;
}

V8CallFrame::Code read_code(json::Reader& reader) {
  const auto text = reader.string();
  if (text == "JS") return V8CallFrame::Code::kJs;
  if (text == "wasm") return V8CallFrame::Code::kWasm;
  return text == "other" ? V8CallFrame::Code::kOther : V8CallFrame::Code::kNotSaid;
}

std::optional<std::int64_t> read_integer(json::Reader& reader) {
  const auto number = reader.number();
  return number ? std::optional(number->rounded()) : std::nullopt;
}

void read_extra(json::Reader& reader, V8CallFrame& call_frame, Profile& profile) {
  auto members = reader.object();
  while (const auto key = members.next()) {
    if (*key == "gap") {
      if (reader.boolean().value_or(false)) call_frame.role = NodeRole::kGap;
    } else if (*key == "thread") {
      call_frame.thread = json::read_thread(reader, profile);
      if (call_frame.role == NodeRole::kFrame) call_frame.role = NodeRole::kThread;
    } else if (*key == "line") {
      call_frame.place_line = json::read_place(reader);
    } else if (*key == "column") {
      call_frame.place_column = json::read_place(reader);
    } else {
      call_frame.extra.read_member(reader, *key, profile);
    }
  }
}

std::uint32_t to_line(std::optional<std::int64_t> line, int first_line) {
  constexpr std::int64_t kMax = std::numeric_limits<std::uint32_t>::max();
  if (!line || *line < first_line) return 0;
  return static_cast<std::uint32_t>(std::min(*line, kMax - 1) - first_line + 1);
}

void write_place(json::Writer& writer, std::string_view function, std::uint64_t script, std::string_view url,
                 std::int64_t line, std::int64_t column) {
  writer.key("functionName").string(function);
  writer.key("scriptId").string(fmt::format("{}", script));
  writer.key("url").string(url);
  writer.key("lineNumber").integer(line);
  writer.key("columnNumber").integer(column);
}

}  // namespace

std::optional<FrameKind> kind_of_pseudo_frame(std::string_view function) {
  if (!function.starts_with('(')) return std::nullopt;
  const auto pseudo = std::ranges::find(kPseudoFrames, function, &PseudoFrame::name);
  return pseudo == kPseudoFrames.end() ? std::nullopt : std::optional(pseudo->kind);
}

bool V8CallFrame::read_member(json::Reader& reader, std::string_view key, Profile& profile) {
  if (key == "functionName") {
    function = json::read_interned(reader, profile);
  } else if (key == "scriptId") {
    script = read_script(reader);
  } else if (key == "url") {
    url = json::read_interned(reader, profile);
  } else if (key == "lineNumber") {
    line = read_integer(reader);
  } else if (key == "columnNumber") {
    column = read_integer(reader);
  } else if (key == "codeType") {
    code = read_code(reader);
  } else if (key == json::kExtraKey) {
    read_extra(reader, *this, profile);
  } else {
    return false;
  }
  return true;
}

void V8CallFrame::read(json::Reader& reader, Profile& profile) {
  auto members = reader.object();
  while (const auto key = members.next()) read_member(reader, *key, profile);
}

NodeRole role_of(const Profile& profile, const V8CallFrame& call_frame) {
  const bool named_root =
      profile.text(call_frame.function) == kRootName && profile.text(call_frame.url).empty();
  if (named_root && !call_frame.extra.kind && call_frame.script != V8CallFrame::Script::kSome)
    return NodeRole::kRoot;
  return call_frame.role;
}

FrameId intern_frame(Profile& profile, const V8CallFrame& call_frame, int first_line) {
  Frame frame;
  frame.function = call_frame.function;
  frame.file = call_frame.url;
  frame.line = to_line(call_frame.line, first_line);
  frame.column = to_line(call_frame.column, first_line);
  frame.module = call_frame.extra.module;
  frame.generated = call_frame.extra.generated;
  frame.tier = call_frame.extra.tier;
  frame.inlined = call_frame.extra.inlined;
  if (call_frame.place_line != 0) {
    frame.function_line = std::exchange(frame.line, call_frame.place_line);
    frame.function_column = std::exchange(frame.column, call_frame.place_column);
  }
  if (call_frame.extra.kind) {
    frame.kind = *call_frame.extra.kind;
    return profile.frames.intern(frame);
  }
  const std::string_view function = profile.text(call_frame.function);
  const PlainFrame plain =
      understand(function, profile.text(call_frame.url), call_frame.script, call_frame.code);
  frame.kind = plain.kind;
  if (plain.function.size() != function.size()) frame.function = profile.strings.intern(plain.function);
  return profile.frames.intern(frame);
}

namespace {

// V8's own line is where the function begins; the place in it is ours.
void write_extra(json::Writer& writer, const Profile& profile, Frame frame) {
  if (frame.function_line != 0) {
    writer.key("line").count(frame.line);
    writer.key("column").count(frame.column);
  }
  frame.function_line = frame.function_column = 0;
  json::write_frame_extra(writer, profile, frame);
}

}  // namespace

void write_call_frame(json::Writer& writer, const Profile& profile, const Frame& frame,
                      std::uint64_t script) {
  std::string function(profile.text(frame.function));
  if (frame.kind == FrameKind::kRegExp) function.insert(0, kRegExpPrefix);
  const std::string_view url = profile.text(frame.file);
  const bool has_script = frame.kind == FrameKind::kJs || frame.kind == FrameKind::kWasm || !url.empty();
  const auto script_kind = has_script ? V8CallFrame::Script::kSome : V8CallFrame::Script::kNone;
  const PlainFrame plain = understand(function, url, script_kind, V8CallFrame::Code::kNotSaid);
  const bool says_all = plain.kind == frame.kind && plain.function == profile.text(frame.function) &&
                        frame.tier == JsTier::kNone && frame.module == StringId{} && !frame.inlined &&
                        frame.function_line == 0 && frame.generated == StringId{} &&
                        (has_script || function != kRootName);
  if (!says_all) function = profile.text(frame.function);

  writer.key("callFrame").begin_object();
  write_place(writer, function, has_script ? script : 0, url, std::int64_t{frame.begin_line()} - 1,
              std::int64_t{frame.begin_column()} - 1);
  if (!says_all) {
    writer.key(json::kExtraKey).begin_object();
    write_extra(writer, profile, frame);
    writer.end_object();
  }
  writer.end_object();
}

void write_call_frame(json::Writer& writer, const Profile& profile, NodeRole role, ThreadId thread) {
  std::string name(role == NodeRole::kRoot ? kRootName : kIdleName);
  if (role == NodeRole::kThread) {
    name = fmt::format("thread {} {}", profile.thread(thread).tid, profile.text(profile.thread(thread).name));
  }
  writer.key("callFrame").begin_object();
  write_place(writer, name, 0, "", -1, -1);
  const bool plain_root = role == NodeRole::kRoot && thread == ThreadId{};
  if (!plain_root) {
    writer.key(json::kExtraKey).begin_object();
    if (role == NodeRole::kGap) {
      writer.key("gap").boolean(true);
    } else {
      writer.key("thread");
      json::write_thread(writer, profile, thread);
    }
    writer.end_object();
  }
  writer.end_object();
}

}  // namespace nodescope
