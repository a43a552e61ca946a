#include "binary/eh_frame_rules.h"

#include <limits>
#include <vector>

#include "base/byte_reader.h"

namespace nodescope {

namespace {

// gcc nests one level, for an epilogue in the middle of a function.
constexpr std::size_t kMaxRememberedStates = 32;

// DW_CFA_*.  The first three carry an operand in their low six bits.
enum Instruction : std::uint8_t {
  kAdvance = 0x40,
  kOffset = 0x80,
  kRestore = 0xC0,
  kNop = 0x00,
  kSetLocation = 0x01,
  kAdvance1 = 0x02,
  kAdvance2 = 0x03,
  kAdvance4 = 0x04,
  kOffsetExtended = 0x05,
  kRestoreExtended = 0x06,
  kUndefined = 0x07,
  kSameValue = 0x08,
  kRegister = 0x09,
  kRememberState = 0x0A,
  kRestoreState = 0x0B,
  kDefineCfa = 0x0C,
  kDefineCfaRegister = 0x0D,
  kDefineCfaOffset = 0x0E,
  kDefineCfaExpression = 0x0F,
  kExpression = 0x10,
  kOffsetExtendedSigned = 0x11,
  kDefineCfaSigned = 0x12,
  kDefineCfaOffsetSigned = 0x13,
  kValueOffset = 0x14,
  kValueOffsetSigned = 0x15,
  kValueExpression = 0x16,
  kGnuArgsSize = 0x2E,
  kGnuNegativeOffsetExtended = 0x2F,
};

class Interpreter {
 public:
  Interpreter(const EhFrameSection& section, const EhFrameFunction& function)
      : section_(section), function_(function), location_(function.range.begin) {}

  std::optional<UnwindRow> run(FileAddress pc) {
    pc_ = pc;
    if (function_.common.return_register != static_cast<std::uint64_t>(Register::kRip)) return std::nullopt;
    if (!run_program(function_.common.instructions, false)) return std::nullopt;
    initial_ = row_;
    if (!run_program(function_.instructions, true)) return std::nullopt;
    row_.signal_frame = function_.common.signal_frame;
    return row_;
  }

 private:
  // Until the end or, in the function's own program, the first row behind pc.
  bool run_program(std::span<const std::byte> instructions, bool moves) {
    ByteReader reader(instructions);
    while (reader.remaining() != 0) {
      const std::uint8_t opcode = *reader.read<std::uint8_t>();
      if (!run_instruction(opcode, reader)) return false;
      if (moves && location_ > pc_) return true;
    }
    return true;
  }

  bool run_instruction(std::uint8_t opcode, ByteReader& reader) {
    const std::uint8_t operand = opcode & 0x3F;
    switch (opcode & 0xC0) {
      case kAdvance:
        return advance(operand);
      case kOffset:
        return set_factored(operand, RuleKind::kAtCfa, as_signed(reader.read_varint()));
      case kRestore:
        return restore(operand);
      default:
        return run_extended(opcode, reader);
    }
  }

  bool run_extended(std::uint8_t opcode, ByteReader& reader) {
    switch (opcode) {
      case kNop:
        return true;
      case kSetLocation:
        return set_location(reader);
      case kAdvance1:
        return advance(reader.read<std::uint8_t>());
      case kAdvance2:
        return advance(reader.read<std::uint16_t>());
      case kAdvance4:
        return advance(reader.read<std::uint32_t>());
      case kRememberState:
        if (remembered_.size() == kMaxRememberedStates) return false;
        remembered_.push_back(row_);
        return true;
      case kRestoreState:
        if (remembered_.empty()) return false;
        row_ = remembered_.back();
        remembered_.pop_back();
        return true;
      case kDefineCfa:
      case kDefineCfaSigned:
      case kDefineCfaRegister:
      case kDefineCfaOffset:
      case kDefineCfaOffsetSigned:
        return define_cfa(opcode, reader);
      case kDefineCfaExpression: {
        const auto place = skip_expression(reader);
        if (!place) return false;
        row_.cfa = {RuleKind::kExpression, 0, *place};
        return true;
      }
      case kGnuArgsSize:
        return reader.read_varint().has_value();
      default:
        return run_register_rule(opcode, reader);
    }
  }

  bool run_register_rule(std::uint8_t opcode, ByteReader& reader) {
    const auto number = reader.read_varint();
    if (!number) return false;
    switch (opcode) {
      case kOffsetExtended:
        return set_factored(*number, RuleKind::kAtCfa, as_signed(reader.read_varint()));
      case kOffsetExtendedSigned:
        return set_factored(*number, RuleKind::kAtCfa, read_signed_varint(reader));
      case kGnuNegativeOffsetExtended: {
        const auto distance = as_signed(reader.read_varint());
        return set_factored(*number, RuleKind::kAtCfa, distance ? std::optional(-*distance) : std::nullopt);
      }
      case kValueOffset:
        return set_factored(*number, RuleKind::kCfa, as_signed(reader.read_varint()));
      case kValueOffsetSigned:
        return set_factored(*number, RuleKind::kCfa, read_signed_varint(reader));
      case kRestoreExtended:
        return restore(*number);
      case kUndefined:
        return set(*number, {RuleKind::kUndefined, 0});
      case kSameValue:
        return set(*number, {RuleKind::kSame, 0});
      case kRegister: {
        const auto other = reader.read_varint();
        if (!other || *other >= kRegisterCount) return false;
        return set(*number, {RuleKind::kRegister, static_cast<std::int32_t>(*other)});
      }
      case kExpression:
      case kValueExpression: {
        const auto place = skip_expression(reader);
        if (!place) return false;
        return set(*number,
                   {opcode == kExpression ? RuleKind::kAtExpression : RuleKind::kExpression, *place});
      }
      default:
        return false;
    }
  }

  bool define_cfa(std::uint8_t opcode, ByteReader& reader) {
    std::uint64_t base = row_.cfa.base;
    std::optional<std::int32_t> offset = row_.cfa.offset;
    if (opcode == kDefineCfa || opcode == kDefineCfaSigned || opcode == kDefineCfaRegister) {
      const auto number = reader.read_varint();
      if (!number || *number >= kRegisterCount) return false;
      base = *number;
    } else if (row_.cfa.kind != RuleKind::kRegister) {
      return false;
    }
    if (opcode == kDefineCfa || opcode == kDefineCfaOffset) {
      offset = narrow(as_signed(reader.read_varint()));
    } else if (opcode == kDefineCfaSigned || opcode == kDefineCfaOffsetSigned) {
      offset = factored(read_signed_varint(reader));
    }
    if (!offset) return false;
    row_.cfa = {RuleKind::kRegister, static_cast<std::uint8_t>(base), *offset};
    return true;
  }

  bool advance(std::optional<std::uint64_t> delta) {
    if (!delta) return false;
    location_ = location_ + *delta * function_.common.code_alignment;
    return true;
  }

  bool set_location(ByteReader& reader) {
    const auto program = static_cast<std::uint64_t>(function_.instructions.data() - section_.bytes.data());
    const auto location = read_encoded_pointer(reader, function_.common.pointer_encoding,
                                               section_.address + program, FileAddress{});
    if (!location) return false;
    location_ = *location;
    return true;
  }

  // Rules for registers that we do not follow (floating point) are read and left out.
  bool set(std::uint64_t number, RegisterRule rule) {
    if (number < kRegisterCount) row_.registers[number] = rule;
    return true;
  }

  bool set_factored(std::uint64_t number, RuleKind kind, std::optional<std::int64_t> value) {
    const auto offset = factored(value);
    return offset && set(number, {kind, *offset});
  }

  bool restore(std::uint64_t number) {
    if (number < kRegisterCount) row_.registers[number] = initial_.registers[number];
    return true;
  }

  std::optional<std::int32_t> skip_expression(ByteReader& reader) {
    const std::size_t before = reader.remaining();
    const auto size = reader.read_varint();
    const auto body = size ? reader.take(*size) : std::nullopt;
    if (!body) return std::nullopt;
    const auto length_bytes = before - reader.remaining() - body->size();
    return narrow(body->data() - section_.bytes.data() - static_cast<std::ptrdiff_t>(length_bytes));
  }

  static std::optional<std::int64_t> as_signed(std::optional<std::uint64_t> value) {
    if (!value || *value > std::numeric_limits<std::int32_t>::max()) return std::nullopt;
    return static_cast<std::int64_t>(*value);
  }

  std::optional<std::int32_t> factored(std::optional<std::int64_t> value) const {
    std::int64_t product = 0;
    if (!value || __builtin_mul_overflow(*value, function_.common.data_alignment, &product))
      return std::nullopt;
    return narrow(product);
  }

  static std::optional<std::int32_t> narrow(std::optional<std::int64_t> value) {
    if (!value || *value < std::numeric_limits<std::int32_t>::min() ||
        *value > std::numeric_limits<std::int32_t>::max()) {
      return std::nullopt;
    }
    return static_cast<std::int32_t>(*value);
  }

  const EhFrameSection& section_;
  const EhFrameFunction& function_;
  FileAddress location_;
  FileAddress pc_;
  UnwindRow row_;
  UnwindRow initial_;
  std::vector<UnwindRow> remembered_;
};

}  // namespace

std::optional<UnwindRow> interpret_eh_frame(const EhFrameSection& section, const EhFrameFunction& function,
                                            FileAddress pc) {
  return Interpreter(section, function).run(pc);
}

}  // namespace nodescope
