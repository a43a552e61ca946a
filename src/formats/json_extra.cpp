#include "formats/json_extra.h"

#include <algorithm>
#include <limits>

namespace nodescope::json {

bool FrameExtra::read_member(Reader& reader, std::string_view key, Profile& profile) {
  if (key == "kind") {
    if (const auto name = reader.string()) kind = frame_kind_of(*name);
  } else if (key == "tier") {
    if (const auto name = reader.string()) tier = js_tier_of(*name).value_or(JsTier::kNone);
  } else if (key == "module") {
    module = read_interned(reader, profile);
  } else if (key == "generated") {
    generated = read_interned(reader, profile);
  } else if (key == "inlined") {
    inlined = reader.boolean().value_or(false);
  } else if (key == "function_line") {
    function_line = read_place(reader);
  } else if (key == "function_column") {
    function_column = read_place(reader);
  } else {
    return false;
  }
  return true;
}

void write_frame_extra(Writer& writer, const Profile& profile, const Frame& frame) {
  writer.key("kind").string(to_string(frame.kind));
  if (frame.tier != JsTier::kNone) writer.key("tier").string(to_string(frame.tier));
  if (frame.module != StringId{}) writer.key("module").string(profile.text(frame.module));
  if (frame.generated != StringId{}) writer.key("generated").string(profile.text(frame.generated));
  if (frame.inlined) writer.key("inlined").boolean(true);
  if (frame.function_line != 0) writer.key("function_line").count(frame.function_line);
  if (frame.function_column != 0) writer.key("function_column").count(frame.function_column);
}

ThreadId read_thread(Reader& reader, Profile& profile) {
  std::int32_t pid = 0;
  std::int32_t tid = 0;
  StringId process_name;
  StringId thread_name;
  auto members = reader.object();
  while (const auto key = members.next()) {
    if (*key == "pid") {
      pid = read_id(reader);
    } else if (*key == "tid") {
      tid = read_id(reader);
    } else if (*key == "process") {
      process_name = read_interned(reader, profile);
    } else if (*key == "name") {
      thread_name = read_interned(reader, profile);
    }
  }
  const ProcessId process = profile.intern_process(pid, profile.text(process_name));
  return profile.intern_thread(process, tid, profile.text(thread_name));
}

void write_thread(Writer& writer, const Profile& profile, ThreadId id) {
  const Thread& thread = profile.thread(id);
  const Process& process = profile.process(thread.process);
  writer.begin_object();
  writer.key("pid").integer(process.pid);
  writer.key("process").string(profile.text(process.name));
  writer.key("tid").integer(thread.tid);
  writer.key("name").string(profile.text(thread.name));
  writer.end_object();
}

StringId read_interned(Reader& reader, Profile& profile) {
  const auto text = reader.string();
  return text ? profile.strings.intern(*text) : StringId{};
}

std::uint32_t read_place(Reader& reader) {
  const auto number = reader.number();
  const std::uint64_t place = number ? number->as_count() : 0;
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(place, std::numeric_limits<std::uint32_t>::max()));
}

std::int32_t read_id(Reader& reader) {
  const auto number = reader.number();
  return static_cast<std::int32_t>(number ? number->rounded() : 0);
}

}  // namespace nodescope::json
