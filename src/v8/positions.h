#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "v8/version.h"

namespace nodescope::v8 {

// A place in source code as V8 packs it: which script offset, within which inlined call.
struct SourcePosition {
  std::int64_t value = 0;

  // An "external" position is a line of V8's own code, of no use here.
  bool is_external() const { return (value & 1) != 0; }
  // From the beginning of the script, in UTF-16 units; -1: none.
  std::int32_t offset() const { return static_cast<std::int32_t>((value >> 1) & 0x3FFFFFFF) - 1; }
  // Index of the inlined call that it belongs to; -1: not inlined.
  std::int32_t inlining_id() const { return static_cast<std::int32_t>((value >> 31) & 0xFFFF) - 1; }

  bool operator==(const SourcePosition&) const = default;
};

// How a source position table packs the distance to the next instruction.
enum class PositionEncoding : std::uint8_t {
  kSigned,  // up to V8 13.6: zigzag; negative (as -(d + 1)) for an expression
  kFlags,   // since 13.7: unsigned, above two bits for breakable and statement
};

PositionEncoding position_encoding(const Version& version);

// The position of the last entry at or before `code_offset`.  A damaged table ends where it is damaged.
std::optional<SourcePosition> find_position(std::string_view table, std::int64_t code_offset,
                                            PositionEncoding encoding);

// The bytecode that a place in baseline code was made from.  `table` has the length of the machine code of
// the prologue and of each bytecode in turn; `sizes` is Layout::bytecode_sizes.  `code_offset` is a return
// address or the place of an instruction within the bytecode's code, not its first byte.
std::optional<std::int32_t> find_baseline_bytecode(std::string_view table, std::int64_t code_offset,
                                                   std::string_view bytecodes, std::string_view sizes);

}  // namespace nodescope::v8
