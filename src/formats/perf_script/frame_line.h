#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/profile.h"

namespace nodescope {

// A line of a stack as `perf script` prints it: "7f3b28c4b8a8 foo+0x1f (/usr/lib/libc.so.6)".  Everything
// behind the address may be missing.
struct FrameLine {
  std::uint64_t address = 0;
  std::string_view symbol;  // whole, without its offset
  std::string_view module;
  bool inlined = false;
};
std::optional<FrameLine> parse_frame_line(std::string_view line);

// `perf script -F +srcline` prints "  file.c:12" below a frame, indented by two blanks.
bool is_source_line(std::string_view line);

// The frame of `text`: a frame's line and, behind a '\n', its source line if there is one.
std::optional<Frame> frame_of_lines(Profile& profile, std::string_view text);

}  // namespace nodescope
