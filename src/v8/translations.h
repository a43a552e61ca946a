#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "v8/version.h"

namespace nodescope::v8 {

// What optimized code keeps so that it can be left for the interpreter at a call: the functions that are
// active there, inlined ones too, and where in its bytecode each is.  V8's own stack traces are made from
// this.  Read in the source of every version that Node.js was released with
// (src/deoptimizer/translation-opcode.h); a format is named after the first of them that has it.
enum class TranslationFormat : std::uint8_t { kV8_9_0, kV8_10_8, kV8_11_3, kV8_11_8, kV8_12_9, kV8_13_6 };

// Nothing for versions that no Node.js was released with.
std::optional<TranslationFormat> translation_format(const Version& version);

// Which calls have a translation is in a table behind the instructions (src/codegen/safepoint-table.h and
// maglev-safepoint-table.h).
enum class SafepointFormat : std::uint8_t {
  kWords,            // entries of 32-bit numbers
  kPacked,           // numbers take as many bytes as the largest needs
  kPackedWithSlots,  // the number of stack slots comes first
  kMaglev,
  kMaglevWithSlots,
};

SafepointFormat safepoint_format(const Version& version, bool is_maglev);

// A function that is active at a call.
struct TranslatedFrame {
  std::int32_t bytecode_offset = 0;  // of the call; -1: at the function's entry
  std::int32_t literal = 0;          // its SharedFunctionInfo, as an index of the literals
  bool is_builtin = false;           // a builtin that calls back; the offset means nothing then

  bool operator==(const TranslatedFrame&) const = default;
};

// The header of a safepoint table and how many bytes follow it.
struct SafepointTable {
  static constexpr std::size_t kMaxHeaderBytes = 16;

  // Nothing when the header makes no sense.
  static std::optional<SafepointTable> parse(std::string_view header, SafepointFormat format);

  std::size_t entries_bytes() const { return count * entry_bytes; }
  // The number of the translation for the call that returns to `code_offset`.
  std::optional<std::uint32_t> find_translation(std::string_view entries, std::uint32_t code_offset) const;

  std::size_t header_bytes = 0;
  std::size_t count = 0;
  std::size_t entry_bytes = 0;
  std::size_t pc_bytes = 0;
  std::size_t index_bytes = 0;
  // That there is no number, or no exit, is 0, and numbers have one added; else it is -1.
  bool is_biased = true;
};

// The frames of the translation that begins at `index`, outermost first.  Nothing when it is damaged.
std::optional<std::vector<TranslatedFrame>> parse_translation(std::string_view translations,
                                                              std::size_t index, TranslationFormat format);

}  // namespace nodescope::v8
