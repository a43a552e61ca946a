#pragma once

#include <string_view>

#include "model/profile.h"

namespace nodescope {

// What a symbol of perf, of a perf-PID.map or of a folded stack says about its function.
// Views into the symbol, except for constants.
struct SymbolName {
  std::string_view function;
  std::string_view file;
  std::string_view regexp_flags;  // "gi", where V8 writes them; a frame's function is then "/a+/gi"
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  FrameKind kind = FrameKind::kUnknown;
  JsTier tier = JsTier::kNone;

  bool operator==(const SymbolName&) const = default;
};

// Understands every prefix that V8 has written since Node 0.11 ("LazyCompile:*fib /app/x.js:3:9", "JS:~",
// "RegExp:", "Builtin:", "BytecodeHandler:", inline caches, stubs) with its tier marks (~ ^ + *), and names
// C++ functions of V8's collector as kGc.  Anything else is returned whole with kUnknown, so that the caller
// decides by the module.
SymbolName parse_symbol_name(std::string_view symbol);

// The frame for `symbol` in `module`: kernel by the module's name ("[kernel.kallsyms]", "[guest.kernel]",
// *.ko) also without a symbol; native for other modules and for none; otherwise an empty or "[unknown]"
// symbol is unknown, and so is "(idle)".
Frame frame_of_symbol(Profile& profile, std::string_view symbol, std::string_view module,
                      bool inlined = false);

// The name that V8 itself would write for `frame`, which parse_symbol_name understands again: "JS:*fib
// /app/x.js:3:9" for JavaScript, "RegExp:a+", "Builtin:ArrayMap"; the plain function otherwise, "[unknown]"
// for none.
std::string symbol_of_frame(const Profile& profile, const Frame& frame);

}  // namespace nodescope
