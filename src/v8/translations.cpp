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

// The instructions by number that all formats have in common.
enum Opcode : std::uint8_t {
  kInterpretedWithReturn = 0,
  kInterpretedWithoutReturn = 1,
  kBuiltinContinuation = 2,
  kBuiltinContinuationWithCatch = 3,
};

// The others, as far as they matter here, and how many operands each instruction has.
struct Format {
  std::uint8_t last_frame = 0;
  std::uint8_t begin = 0;                  // two: without and with feedback
  std::span<const std::uint8_t> operands;  // the last instruction repeats earlier ones

  std::uint8_t match_previous() const { return static_cast<std::uint8_t>(operands.size() - 1); }
  bool is_begin(std::uint8_t opcode) const { return opcode == begin || opcode == begin + 1; }
};

constexpr std::array<std::uint8_t, 40> kOperands12 = {5, 3, 3, 3, 2, 1, 3, 4, 3, 2, 1, 0, 3, 3,
                                                      1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                                      1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 2, 1};
constexpr std::array<std::uint8_t, 45> kOperands13 = {6, 4, 3, 3, 2, 1, 3, 4, 3, 3, 3, 1, 0, 0, 3,
                                                      3, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
                                                      1, 1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 2, 1};

Format format_of(TranslationFormat format) {
  return format == TranslationFormat::kV8_12_4 ? Format{9, 12, kOperands12} : Format{10, 14, kOperands13};
}

std::int32_t from_zigzag(std::uint64_t value) {
  return static_cast<std::int32_t>(static_cast<std::int64_t>(value >> 1) ^
                                   -static_cast<std::int64_t>(value & 1));
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

// Reads one translation.  Instructions that are the same as those at the same place of an earlier one, its
// basis, are not repeated: "as in the basis, n times".  A basis has no such references itself.
class TranslationReader {
 public:
  TranslationReader(std::string_view translations, std::size_t index, const Format& format)
      : format_(format), own_(as_byte_span(translations.substr(index))), basis_(as_byte_span({})) {
    const auto opcode = own_.read<std::uint8_t>();
    const auto begin = opcode ? read_operands(own_, *opcode, format_) : std::nullopt;
    if (!begin || !format_.is_begin(begin->opcode)) return;
    frames_ = from_zigzag(begin->operands[1]);
    const std::uint64_t distance = begin->operands[0];
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
      const auto opcode = own_.read<std::uint8_t>();
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

std::optional<SafepointTable> SafepointTable::parse(std::string_view header, TranslationFormat format) {
  if (header.size() < kHeaderBytes) return std::nullopt;
  // Stack slots (not in 12.4), then the number of entries, then how they are packed, then kinds of slots.
  const std::size_t at = format == TranslationFormat::kV8_12_4 ? 0 : 4;
  const std::uint32_t count = load_little_endian(header.substr(at, 4));
  const std::uint32_t packing = load_little_endian(header.substr(at + 4, 4));
  const bool has_translations = (packing & 1) != 0;
  const std::size_t register_bytes = packing >> 1 & 7;
  SafepointTable table;
  table.count = count;
  table.pc_bytes = packing >> 4 & 7;
  table.index_bytes = packing >> 7 & 7;
  // pc, number of the translation, pc of the exit, one byte of spilled registers, which registers.
  table.entry_bytes = 2 * table.pc_bytes + table.index_bytes + 1 + register_bytes;
  if (!has_translations || count > kMaxSafepoints || packing >> 10 != 0 || table.pc_bytes == 0 ||
      table.pc_bytes > 4 || table.index_bytes == 0 || table.index_bytes > 4 || register_bytes > 4)
    return std::nullopt;
  return table;
}

std::optional<std::uint32_t> SafepointTable::find_translation(std::string_view entries,
                                                              std::uint32_t code_offset) const {
  for (std::size_t i = 0; i < count && (i + 1) * entry_bytes <= entries.size(); ++i) {
    const std::string_view entry = entries.substr(i * entry_bytes, entry_bytes);
    const std::uint32_t pc = load_little_endian(entry.substr(0, pc_bytes));
    // Both are kept with one added, so that 0 is none.
    const std::uint32_t number = load_little_endian(entry.substr(pc_bytes, index_bytes));
    const std::uint32_t exit = load_little_endian(entry.substr(pc_bytes + index_bytes, pc_bytes));
    if (pc != code_offset && (exit == 0 || exit - 1 != code_offset)) continue;
    return number == 0 ? std::nullopt : std::optional(number - 1);
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
    if (instruction->opcode <= format.last_frame) ++seen;
    if (instruction->opcode > kBuiltinContinuationWithCatch) continue;
    const bool is_builtin = instruction->opcode >= kBuiltinContinuation;
    frames.push_back(
        {from_zigzag(instruction->operands[0]), from_zigzag(instruction->operands[1]), is_builtin});
  }
  if (frames.empty()) return std::nullopt;
  return frames;
}

}  // namespace nodescope::v8
