#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/json_extra.h"
#include "json/reader.h"
#include "json/writer.h"
#include "model/profile.h"

namespace nodescope {

// What a node of V8's call tree stands for.
enum class NodeRole : std::uint8_t {
  kFrame,
  kRoot,    // V8's "(root)": the parent of every outermost frame, no frame itself
  kThread,  // ours: everything below ran on one thread of several
  kGap,     // ours: a sample of it only ends the one before
};

// A place in a program as V8's profilers write it: the CPU profiler, the sampling heap profiler and the trace
// events share this form.  Lines and columns are as in the file.
struct V8CallFrame {
  enum class Script : std::uint8_t { kNotSaid, kNone, kSome };
  enum class Code : std::uint8_t { kNotSaid, kJs, kWasm, kOther };

  StringId function;
  StringId url;
  std::optional<std::int64_t> line;
  std::optional<std::int64_t> column;
  Script script = Script::kNotSaid;  // V8's script id 0 is no script: native code, or V8's own entries
  Code code = Code::kNotSaid;        // only in trace events

  // What only nodescope writes, so that other frames than V8's survive.
  json::FrameExtra extra;
  std::uint32_t place_line = 0;  // within the function; 0: not said
  std::uint32_t place_column = 0;
  NodeRole role = NodeRole::kFrame;
  ThreadId thread;

  // Takes the next value of `reader` if `key` is one of a call frame; whether it was.
  bool read_member(json::Reader& reader, std::string_view key, Profile& profile);
  void read(json::Reader& reader, Profile& profile);
};

// The kind of "(program)", "(garbage collector)" and V8's other names for what belongs to no function.
std::optional<FrameKind> kind_of_pseudo_frame(std::string_view function);

NodeRole role_of(const Profile& profile, const V8CallFrame& call_frame);

// `first_line` is the number of the first line of a file: 0 today, 1 in the older form.  A missing line, -1
// today and 0 in the older form, becomes 0.
FrameId intern_frame(Profile& profile, const V8CallFrame& call_frame, int first_line);

// Writes `frame` as a callFrame member.  `script` is a number other than 0 that stands for the frame's file.
void write_call_frame(json::Writer& writer, const Profile& profile, const Frame& frame, std::uint64_t script);

// The callFrame member of a node that is no frame: V8's "(root)", or one of ours.  `thread` is written if it
// is not thread 0, for kRoot (the only thread) and kThread.
void write_call_frame(json::Writer& writer, const Profile& profile, NodeRole role, ThreadId thread);

}  // namespace nodescope
