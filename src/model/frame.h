#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/flat_map.h"
#include "base/string_table.h"

namespace nodescope {

enum class FrameKind : std::uint8_t {
  kUnknown,  // nothing is known: shown as [unknown], never guessed
  kJs,
  kNative,
  kKernel,
  kBuiltin,  // V8's own code: builtins, bytecode handlers, inline caches, stubs
  kGc,
  kRegExp,
  kWasm,
};
constexpr std::size_t kFrameKindCount = 8;

enum class JsTier : std::uint8_t { kNone, kInterpreted, kBaseline, kMaglev, kTurbofan };

std::string_view to_string(FrameKind kind);
std::string_view to_string(JsTier tier);
std::optional<FrameKind> frame_kind_of(std::string_view name);
std::optional<JsTier> js_tier_of(std::string_view name);

// One place in a program.  Empty strings and zeros mean "not known".  Lines and columns are 1-based.
struct Frame {
  StringId function;
  StringId file;
  StringId module;  // the binary or library: "/usr/bin/node", "[kernel.kallsyms]"
  // Where it ran, if a source map has led from there to here: "t /app/dist/main.js:1:4821".
  StringId generated;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  // Where the function begins, if that is known besides the place in it; otherwise line and column may be the
  // one or the other, as the source of the profile has it.
  std::uint32_t function_line = 0;
  std::uint32_t function_column = 0;
  FrameKind kind = FrameKind::kUnknown;
  JsTier tier = JsTier::kNone;
  bool inlined = false;

  // What tells one function from another of the same name.
  std::uint32_t begin_line() const { return function_line != 0 ? function_line : line; }
  std::uint32_t begin_column() const { return function_line != 0 ? function_column : column; }

  bool operator==(const Frame&) const = default;
};

struct FrameTag;
using FrameId = Id<FrameTag>;

struct FrameHash {
  using is_avalanching = void;
  std::uint64_t operator()(const Frame& frame) const;
};

// Distinct frames.
class FrameTable {
 public:
  FrameId intern(const Frame& frame);
  // False, and nothing is changed, if there is such a frame already.
  bool replace(FrameId id, const Frame& frame);
  const Frame& operator[](FrameId id) const { return frames_[id.index()]; }
  std::size_t size() const { return frames_.size(); }

 private:
  FlatMap<Frame, FrameId, FrameHash> ids_;
  std::vector<Frame> frames_;
};

}  // namespace nodescope
