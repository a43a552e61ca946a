#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "json/reader.h"
#include "json/writer.h"
#include "model/profile.h"

// What nodescope adds to other programs' formats, always below the key "nodescope", so that a profile that it
// wrote comes back as it was.  Every program that reads those formats skips keys that it does not know.
namespace nodescope::json {

constexpr std::string_view kExtraKey = "nodescope";

struct FrameExtra {
  std::optional<FrameKind> kind;
  JsTier tier = JsTier::kNone;
  StringId module;
  StringId generated;
  bool inlined = false;
  std::uint32_t function_line = 0;
  std::uint32_t function_column = 0;

  // Takes the next value of `reader` if `key` is one of these; whether it was.
  bool read_member(Reader& reader, std::string_view key, Profile& profile);
};

// The members of FrameExtra, into an object that is open.
void write_frame_extra(Writer& writer, const Profile& profile, const Frame& frame);

// {"pid":1,"process":"node","tid":2,"name":"main"}
ThreadId read_thread(Reader& reader, Profile& profile);
void write_thread(Writer& writer, const Profile& profile, ThreadId id);

// The next value as interned text; empty if it is something else.
StringId read_interned(Reader& reader, Profile& profile);
// A line or column; 0 if it is something else.
std::uint32_t read_place(Reader& reader);
// A process or thread id; 0 if it is something else.
std::int32_t read_id(Reader& reader);

}  // namespace nodescope::json
