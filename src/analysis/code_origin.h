#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/profile.h"

namespace nodescope {

// Whose code a frame is.
enum class Origin : std::uint8_t {
  kOwn,      // JavaScript and WebAssembly of the application
  kPackage,  // below a node_modules folder
  kNode,     // JavaScript inside Node: "node:fs", "internal/timers.js", and "events.js" of old versions
  kBuiltin,  // V8's own code
  kRegExp,
  kGc,
  kNative,
  kKernel,
  kUnknown,
};
constexpr std::size_t kOriginCount = 9;

struct CodeOrigin {
  Origin origin = Origin::kUnknown;
  std::string_view package;  // kPackage only: "express", "@scope/name"; the innermost one of nested folders

  bool operator==(const CodeOrigin&) const = default;
};

CodeOrigin origin_of(const Profile& profile, const Frame& frame);

// The kind that people see: code of a library or program is native also where it has no symbol.
FrameKind shown_kind(const Profile& profile, const Frame& frame);

// "express" of "/app/node_modules/express/lib/router.js"; empty if the file belongs to no package.
std::string_view package_of_file(std::string_view file);

// "(my code)", "(node_modules)/express", "(node internals)", "(builtin)", "(regexp)", "(gc)", "(native)",
// "(kernel)",
// "(unknown)".
std::string to_string(const CodeOrigin& origin);

}  // namespace nodescope
