#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/profile.h"

namespace nodescope::pprof {

// A line of a location with its function and mapping: all that pprof says about a frame.
struct FunctionText {
  std::string_view name;         // for people: "fib"
  std::string_view system_name;  // "JS:*fib /app/x.js:3:9", "_ZN4node5StartEiPPc"
  std::string_view file;
  std::string_view module;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::uint32_t function_line = 0;  // where the function begins
  std::uint32_t first_line = 0;  // the first of several that were executed, where the beginning is not told
};

// pprof has no place for the kind and the tier of a frame.  They are taken from the system name, where we
// write the name that V8 itself would, and else from the module and the file.
Frame frame_of_function(Profile& profile, const FunctionText& text, bool inlined);

struct FunctionNames {
  std::string name;
  std::string system_name;
};

// The names from which frame_of_function makes the same frame again.  Where V8's own name would not, the
// system name says "nodescope:" and the kind, which no tool shows beside the name.  `inlined`: what the place
// in its location will say. `scratch` is where that is tried out.
FunctionNames names_of_frame(const Profile& profile, const Frame& frame, bool inlined, Profile& scratch);

}  // namespace nodescope::pprof
