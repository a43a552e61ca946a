#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace nodescope::v8 {

// What Maglev's code keeps so that it can be left for the interpreter at any call: the functions that are
// active there, inlined ones too, and where in its bytecode each is.  V8's own stack traces are made from
// this.  The formats are those of V8 12.4 and 13.6 to 14.6 (src/codegen/maglev-safepoint-table.h,
// src/deoptimizer/translation-opcode.h).
enum class TranslationFormat : std::uint8_t { kV8_12_4, kV8_13_6 };

// A function that is active at a call.
struct TranslatedFrame {
  std::int32_t bytecode_offset = 0;  // of the call; -1: at the function's entry
  std::int32_t literal = 0;          // its SharedFunctionInfo, as an index of the literals
  bool is_builtin = false;           // a builtin that calls back; the offset means nothing then

  bool operator==(const TranslatedFrame&) const = default;
};

// The header of a safepoint table and how many bytes follow it.
struct SafepointTable {
  static constexpr std::size_t kHeaderBytes = 16;

  // Nothing when the header makes no sense.
  static std::optional<SafepointTable> parse(std::string_view header, TranslationFormat format);

  std::size_t entries_bytes() const { return count * entry_bytes; }
  // The number of the translation for the call that returns to `code_offset`.
  std::optional<std::uint32_t> find_translation(std::string_view entries, std::uint32_t code_offset) const;

  std::size_t count = 0;
  std::size_t entry_bytes = 0;
  std::size_t pc_bytes = 0;
  std::size_t index_bytes = 0;
};

// The frames of the translation that begins at `index`, outermost first.  Nothing when it is damaged.
std::optional<std::vector<TranslatedFrame>> parse_translation(std::string_view translations,
                                                              std::size_t index, TranslationFormat format);

}  // namespace nodescope::v8
