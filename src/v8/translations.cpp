#include "v8/translations.h"

#include <array>
#include <cstring>
#include <span>

#include "base/byte_reader.h"
#include "base/byte_source.h"

namespace nodescope::v8 {

namespace {

constexpr std::size_t kMaxSafepoints = 1 << 16;
constexpr int kMaxFrames = 256;             // V8 inlines far less deep
constexpr std::size_t kMaxSteps = 1 << 16;  // instructions of one translation

// Stands for an instruction that a format does not have.
constexpr std::uint8_t kNone = 0xFF;

// The instructions by number, as far as they matter here, and how many operands each has.
struct Format {
  std::uint8_t begin = 0;
  std::uint8_t begin_with_feedback = kNone;
  std::uint8_t function = 0;
  std::uint8_t function_without_return = kNone;
  std::uint8_t builtin = 0;  // two: without and with a handler of exceptions
  // Everything that begins a frame of any kind.
  std::uint64_t frames = 0;
  std::span<const std::uint8_t> operands;
  // Operands and instructions are signed, and translations do not refer to one another.
  bool is_plain = false;
  // Instructions are one byte each.
  bool has_byte_opcodes = true;
  // The last instruction repeats earlier ones.
  std::uint8_t match_previous() const {
    return is_plain ? kNone : static_cast<std::uint8_t>(operands.size() - 1);
  }
  bool is_begin(std::uint8_t opcode) const { return opcode == begin || opcode == begin_with_feedback; }
  bool is_frame(std::uint8_t opcode) const { return (frames >> opcode & 1) != 0; }
  bool is_function(std::uint8_t opcode) const {
    return opcode == function || opcode == function_without_return;
  }
  bool is_builtin(std::uint8_t opcode) const { return opcode == builtin || opcode == builtin + 1; }
};

template <typename... Numbers>
constexpr std::uint64_t set_of(Numbers... numbers) {
  return ((std::uint64_t{1} << numbers) | ...);
}

constexpr std::array<std::uint8_t, 28> kOperands9 = {2, 1, 0, 3, 1, 1, 3, 1, 3, 1, 1, 1, 1, 1,
                                                     1, 1, 1, 1, 5, 3, 3, 4, 1, 1, 1, 1, 1, 2};
constexpr std::array<std::uint8_t, 33> kOperands10 = {1, 0, 3, 1, 1, 3, 1, 3, 1, 1, 1, 1, 1, 2, 1, 1, 1,
                                                      1, 1, 1, 1, 1, 5, 3, 3, 4, 0, 1, 1, 1, 1, 1, 2};
constexpr std::array<std::uint8_t, 36> kOperands11 = {1, 0, 3, 3, 1, 1, 3, 1, 3, 1, 1, 1, 1, 1, 2, 1, 1, 1,
                                                      1, 1, 1, 1, 1, 5, 3, 3, 3, 4, 0, 1, 1, 1, 1, 1, 2, 1};
constexpr std::array<std::uint8_t, 40> kOperands11_8 = {5, 3, 3, 3, 2, 1, 3, 4, 3, 2, 1, 0, 3, 3,
                                                        1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                                        1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 2, 1};
constexpr std::array<std::uint8_t, 44> kOperands12_9 = {5, 3, 3, 3, 2, 1, 3, 4, 3, 3, 2, 1, 0, 0, 3,
                                                        3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                                        1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 2, 1};
constexpr std::array<std::uint8_t, 45> kOperands13 = {6, 4, 3, 3, 2, 1, 3, 4, 3, 3, 3, 1, 0, 0, 3,
                                                      3, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                                      1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 2, 1};

// Since V8 11.8 the frames come first: two of functions, two of builtins that call back, then the others.
constexpr Format frames_first(std::uint8_t begin, std::span<const std::uint8_t> operands) {
  const std::uint8_t last_frame = begin == 12 ? 9 : 10;
  return {.begin = begin,
          .begin_with_feedback = static_cast<std::uint8_t>(begin + 1),
          .function = 0,
          .function_without_return = 1,
          .builtin = 2,
          .frames = (std::uint64_t{2} << last_frame) - 1,
          .operands = operands};
}

Format format_of(TranslationFormat format) {
  switch (format) {
    case TranslationFormat::kV8_9_0:
      return {.begin = 3,
              .function = 18,
              .builtin = 19,
              .frames = set_of(0, 6, 8, 18, 19, 20, 21),
              .operands = kOperands9,
              .is_plain = true,
              .has_byte_opcodes = false};
    case TranslationFormat::kV8_10_8:
      return {.begin = 2,
              .function = 22,
              .builtin = 23,
              .frames = set_of(5, 7, 13, 22, 23, 24, 25),
              .operands = kOperands10,
              .is_plain = true};
    case TranslationFormat::kV8_11_3:
      return {.begin = 2,
              .begin_with_feedback = 3,
              .function = 23,
              .function_without_return = 24,
              .builtin = 25,
              .frames = set_of(6, 8, 14, 23, 24, 25, 26, 27),
              .operands = kOperands11};
    case TranslationFormat::kV8_11_8:
      return frames_first(12, kOperands11_8);
    case TranslationFormat::kV8_12_9:
      return frames_first(14, kOperands12_9);
    case TranslationFormat::kV8_13_6:
      break;
  }
  return frames_first(14, kOperands13);
}

// The sign is the lowest bit (src/base/vlq.h).
std::int32_t to_signed(std::uint64_t value) {
  const auto magnitude = static_cast<std::int32_t>(value >> 1 & 0x7FFFFFFF);
  return (value & 1) != 0 ? -magnitude : magnitude;
}

std::uint32_t load_little_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    value |= std::uint32_t{static_cast<std::uint8_t>(bytes[i])} << (8 * i);
  return value;
}

struct Instruction {
  std::uint8_t opcode = 0;
  std::array<std::uint64_t, 6> operands{};
};

std::optional<Instruction> read_operands(ByteReader& reader, std::uint8_t opcode, const Format& format) {
  if (opcode >= format.operands.size()) return std::nullopt;
  Instruction instruction{opcode, {}};
  for (std::size_t i = 0; i < format.operands[opcode]; ++i) {
    const auto operand = reader.read_varint();
    if (!operand) return std::nullopt;
    instruction.operands[i] = *operand;
  }
  return instruction;
}

std::optional<std::uint8_t> read_opcode(ByteReader& reader, const Format& format) {
  if (format.has_byte_opcodes) return reader.read<std::uint8_t>();
  const auto value = reader.read_varint();
  if (!value || (*value & 1) != 0 || *value >= 2 * format.operands.size()) return std::nullopt;
  return static_cast<std::uint8_t>(*value >> 1);
}

// Reads one translation.  Instructions that are the same as those at the same place of an earlier one, its
// basis, are not repeated: "as in the basis, n times".  A basis has no such references itself.
class TranslationReader {
 public:
  TranslationReader(std::string_view translations, std::size_t index, const Format& format)
      : format_(format), own_(as_byte_span(translations.substr(index))), basis_(as_byte_span({})) {
    const auto opcode = read_opcode(own_, format_);
    const auto begin = opcode ? read_operands(own_, *opcode, format_) : std::nullopt;
    if (!begin || !format_.is_begin(begin->opcode)) return;
    frames_ = to_signed(begin->operands[format_.is_plain ? 0 : 1]);
    const std::uint64_t distance = format_.is_plain ? 0 : begin->operands[0];
    if (distance > index) return;
    valid_ = true;
    if (distance == 0) return;
    basis_ = ByteReader(as_byte_span(translations.substr(index - static_cast<std::size_t>(distance))));
    const auto basis_opcode = basis_.read<std::uint8_t>();
    const auto basis_begin = basis_opcode ? read_operands(basis_, *basis_opcode, format_) : std::nullopt;
    valid_ = basis_begin && format_.is_begin(basis_begin->opcode) && basis_begin->operands[0] == 0;
  }

  bool valid() const { return valid_ && frames_ > 0 && frames_ <= kMaxFrames; }
  // How many frames of any kind follow.
  int frames() const { return frames_; }

  std::optional<Instruction> next() {
    if (repeats_ == 0) {
      const auto opcode = read_opcode(own_, format_);
      if (!opcode) return std::nullopt;
      if (*opcode > format_.match_previous()) {
        repeats_ = *opcode - format_.operands.size();
      } else {
        auto instruction = read_operands(own_, *opcode, format_);
        if (!instruction) return std::nullopt;
        if (*opcode != format_.match_previous()) {
          ++index_;
          return instruction;
        }
        repeats_ = instruction->operands[0];
      }
      if (repeats_ == 0) return std::nullopt;
    }
    --repeats_;
    ++index_;
    std::optional<Instruction> instruction;
    while (basis_index_ < index_) {
      const auto opcode = basis_.read<std::uint8_t>();
      instruction = opcode && *opcode < format_.match_previous() ? read_operands(basis_, *opcode, format_)
                                                                 : std::nullopt;
      if (!instruction) return std::nullopt;
      ++basis_index_;
    }
    return instruction;
  }

 private:
  const Format& format_;
  ByteReader own_;
  ByteReader basis_;
  bool valid_ = false;
  int frames_ = 0;
  std::uint64_t repeats_ = 0;
  std::size_t index_ = 0;        // instructions read
  std::size_t basis_index_ = 0;  // of the basis
};

}  // namespace

std::optional<TranslationFormat> translation_format(const Version& version) {
  struct Known {
    Version first, end;
    TranslationFormat format;
  };
  constexpr Known kKnown[] = {
      {{9, 0, 0}, {10, 3, 0}, TranslationFormat::kV8_9_0},
      {{10, 8, 0}, {10, 9, 0}, TranslationFormat::kV8_10_8},
      {{11, 3, 0}, {11, 4, 0}, TranslationFormat::kV8_11_3},
      {{11, 8, 0}, {12, 5, 0}, TranslationFormat::kV8_11_8},
      {{12, 9, 0}, {12, 10, 0}, TranslationFormat::kV8_12_9},
      {{13, 6, 0}, {14, 7, 0}, TranslationFormat::kV8_13_6},
  };
  for (const Known& known : kKnown) {
    if (version >= known.first && version < known.end) return known.format;
  }
  return std::nullopt;
}

SafepointFormat safepoint_format(const Version& version, bool is_maglev) {
  const bool with_slots = version >= Version{13, 6, 0};
  if (is_maglev) return with_slots ? SafepointFormat::kMaglevWithSlots : SafepointFormat::kMaglev;
  if (version < Version{10, 0, 0}) return SafepointFormat::kWords;
  return with_slots ? SafepointFormat::kPackedWithSlots : SafepointFormat::kPacked;
}

std::optional<SafepointTable> SafepointTable::parse(std::string_view header, SafepointFormat format) {
  const bool is_maglev = format == SafepointFormat::kMaglev || format == SafepointFormat::kMaglevWithSlots;
  const bool with_slots =
      format == SafepointFormat::kPackedWithSlots || format == SafepointFormat::kMaglevWithSlots;
  const std::size_t at = with_slots ? 4 : 0;
  SafepointTable table;
  // Behind how the entries are packed Maglev says which slots are tagged.
  table.header_bytes = is_maglev ? 16 : at + 8;
  if (header.size() < table.header_bytes) return std::nullopt;
  table.count = load_little_endian(header.substr(at, 4));
  if (table.count > kMaxSafepoints) return std::nullopt;
  if (format == SafepointFormat::kWords) {
    table.entry_bytes = 12;
    table.pc_bytes = 4;
    table.index_bytes = 4;
    table.is_biased = false;
    return table;
  }
  const std::uint32_t packing = load_little_endian(header.substr(at + 4, 4));
  const bool has_translations = (packing & 1) != 0;
  const std::size_t register_bytes = packing >> 1 & 7;
  table.pc_bytes = packing >> 4 & 7;
  table.index_bytes = packing >> 7 & 7;
  // pc, number of the translation, pc of the exit, Maglev: one byte of spilled registers, which registers.
  // The bits above are the bytes of a bitmap of slots for each entry, behind all of them: Maglev has none.
  table.entry_bytes = 2 * table.pc_bytes + table.index_bytes + (is_maglev ? 1u : 0u) + register_bytes;
  if (!has_translations || (is_maglev && packing >> 10 != 0) || table.pc_bytes == 0 || table.pc_bytes > 4 ||
      table.index_bytes == 0 || table.index_bytes > 4 || register_bytes > 4)
    return std::nullopt;
  return table;
}

std::optional<std::uint32_t> SafepointTable::find_translation(std::string_view entries,
                                                              std::uint32_t code_offset) const {
  const std::uint32_t bias = is_biased ? 1 : 0;
  const std::uint32_t none = is_biased ? 0 : ~std::uint32_t{0};
  for (std::size_t i = 0; i < count && (i + 1) * entry_bytes <= entries.size(); ++i) {
    const std::string_view entry = entries.substr(i * entry_bytes, entry_bytes);
    const std::uint32_t pc = load_little_endian(entry.substr(0, pc_bytes));
    const std::uint32_t number = load_little_endian(entry.substr(pc_bytes, index_bytes));
    // Where the call returns to once the code is given up.
    const std::uint32_t exit = load_little_endian(entry.substr(pc_bytes + index_bytes, pc_bytes));
    if (pc != code_offset && (exit == none || exit - bias != code_offset)) continue;
    return number == none ? std::nullopt : std::optional(number - bias);
  }
  return std::nullopt;
}

std::optional<std::vector<TranslatedFrame>> parse_translation(std::string_view translations,
                                                              std::size_t index, TranslationFormat version) {
  if (index >= translations.size()) return std::nullopt;
  const Format format = format_of(version);
  TranslationReader reader(translations, index, format);
  if (!reader.valid()) return std::nullopt;
  std::vector<TranslatedFrame> frames;
  int seen = 0;
  for (std::size_t step = 0; seen < reader.frames(); ++step) {
    const auto instruction = step < kMaxSteps ? reader.next() : std::nullopt;
    if (!instruction || format.is_begin(instruction->opcode)) return std::nullopt;
    if (format.is_frame(instruction->opcode)) ++seen;
    const bool is_builtin = format.is_builtin(instruction->opcode);
    if (!is_builtin && !format.is_function(instruction->opcode)) continue;
    frames.push_back({to_signed(instruction->operands[0]), to_signed(instruction->operands[1]), is_builtin});
  }
  if (frames.empty()) return std::nullopt;
  return frames;
}

}  // namespace nodescope::v8
