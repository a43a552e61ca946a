#include "binary/eh_frame_expression.h"

#include <array>

#include "base/byte_reader.h"
#include "binary/eh_frame_entry.h"

namespace nodescope {

namespace {

constexpr std::size_t kMaxStack = 64;
constexpr std::size_t kMaxSteps = 1000;

// DW_OP_*
enum Operation : std::uint8_t {
  kDeref = 0x06,
  kConst1u = 0x08,
  kConst1s = 0x09,
  kConst2u = 0x0A,
  kConst2s = 0x0B,
  kConst4u = 0x0C,
  kConst4s = 0x0D,
  kConst8u = 0x0E,
  kConst8s = 0x0F,
  kConstu = 0x10,
  kConsts = 0x11,
  kDup = 0x12,
  kDrop = 0x13,
  kOver = 0x14,
  kPick = 0x15,
  kSwap = 0x16,
  kRot = 0x17,
  kAbs = 0x19,
  kAnd = 0x1A,
  kDiv = 0x1B,
  kMinus = 0x1C,
  kMod = 0x1D,
  kMul = 0x1E,
  kNeg = 0x1F,
  kNot = 0x20,
  kOr = 0x21,
  kPlus = 0x22,
  kPlusUconst = 0x23,
  kShl = 0x24,
  kShr = 0x25,
  kShra = 0x26,
  kXor = 0x27,
  kBra = 0x28,
  kEq = 0x29,
  kGe = 0x2A,
  kGt = 0x2B,
  kLe = 0x2C,
  kLt = 0x2D,
  kNe = 0x2E,
  kSkip = 0x2F,
  kLit0 = 0x30,
  kLit31 = 0x4F,
  kBreg0 = 0x70,
  kBreg31 = 0x8F,
  kBregx = 0x92,
  kDerefSize = 0x94,
  kNop = 0x96,
};

class Evaluator {
 public:
  Evaluator(std::span<const std::byte> expression, const ExpressionContext& context)
      : expression_(expression), context_(context), reader_(expression) {}

  std::optional<std::uint64_t> run(std::optional<std::uint64_t> initial) {
    if (initial) push(initial);
    for (std::size_t step = 0; reader_.remaining() != 0; ++step) {
      if (step == kMaxSteps || !run_operation(*reader_.read<std::uint8_t>())) return std::nullopt;
    }
    return pop();
  }

 private:
  bool push(std::optional<std::uint64_t> value) {
    if (!value || size_ == kMaxStack) return false;
    stack_[size_++] = *value;
    return true;
  }
  template <typename T>
  bool push_signed(std::optional<T> value) {
    return value && push(static_cast<std::uint64_t>(static_cast<std::int64_t>(*value)));
  }
  std::optional<std::uint64_t> pop() {
    if (size_ == 0) return std::nullopt;
    return stack_[--size_];
  }
  bool push_copy(std::uint64_t depth) { return depth < size_ && push(stack_[size_ - 1 - depth]); }

  bool run_operation(std::uint8_t operation) {
    if (operation >= kLit0 && operation <= kLit31) return push(std::uint64_t{operation} - kLit0);
    if (operation >= kBreg0 && operation <= kBreg31) return push_register(std::uint64_t{operation} - kBreg0);
    switch (operation) {
      case kConst1u:
        return push(reader_.read<std::uint8_t>());
      case kConst2u:
        return push(reader_.read<std::uint16_t>());
      case kConst4u:
        return push(reader_.read<std::uint32_t>());
      case kConst8u:
      case kConst8s:
        return push(reader_.read<std::uint64_t>());
      case kConst1s:
        return push_signed(reader_.read<std::int8_t>());
      case kConst2s:
        return push_signed(reader_.read<std::int16_t>());
      case kConst4s:
        return push_signed(reader_.read<std::int32_t>());
      case kConstu:
        return push(reader_.read_varint());
      case kConsts:
        return push_signed(read_signed_varint(reader_));
      case kBregx: {
        const auto number = reader_.read_varint();
        return number && push_register(*number);
      }
      case kNop:
        return true;
      case kSkip:
        return jump(true);
      case kBra: {
        const auto condition = pop();
        return condition && jump(*condition != 0);
      }
      default:
        return run_stack_operation(operation);
    }
  }

  bool run_stack_operation(std::uint8_t operation) {
    switch (operation) {
      case kDup:
        return push_copy(0);
      case kOver:
        return push_copy(1);
      case kPick: {
        const auto depth = reader_.read<std::uint8_t>();
        return depth && push_copy(*depth);
      }
      case kDrop:
        return pop().has_value();
      case kSwap:
        if (size_ < 2) return false;
        std::swap(stack_[size_ - 1], stack_[size_ - 2]);
        return true;
      case kRot:
        if (size_ < 3) return false;
        std::swap(stack_[size_ - 1], stack_[size_ - 2]);
        std::swap(stack_[size_ - 2], stack_[size_ - 3]);
        return true;
      case kDeref:
        return push_memory(8);
      case kDerefSize: {
        const auto size = reader_.read<std::uint8_t>();
        return size && *size >= 1 && *size <= 8 && push_memory(*size);
      }
      case kPlusUconst: {
        const auto addend = reader_.read_varint();
        const auto value = pop();
        return addend && value && push(*value + *addend);
      }
      case kAbs:
      case kNeg:
      case kNot: {
        const auto value = pop();
        return value && push(unary(operation, *value));
      }
      default: {
        const auto right = pop();
        const auto left = pop();
        return left && push(binary(operation, *left, *right));
      }
    }
  }

  static std::uint64_t unary(std::uint8_t operation, std::uint64_t value) {
    if (operation == kNot) return ~value;
    const bool negative = static_cast<std::int64_t>(value) < 0;
    return operation == kNeg || negative ? 0 - value : value;
  }

  static std::optional<std::uint64_t> binary(std::uint8_t operation, std::uint64_t left,
                                             std::uint64_t right) {
    const auto signed_left = static_cast<std::int64_t>(left);
    const auto signed_right = static_cast<std::int64_t>(right);
    switch (operation) {
      case kAnd:
        return left & right;
      case kOr:
        return left | right;
      case kXor:
        return left ^ right;
      case kPlus:
        return left + right;
      case kMinus:
        return left - right;
      case kMul:
        return left * right;
      case kDiv:
        if (right == 0) return std::nullopt;
        // The one quotient that does not fit.
        if (signed_right == -1) return 0 - left;
        return static_cast<std::uint64_t>(signed_left / signed_right);
      case kMod:
        if (right == 0) return std::nullopt;
        return left % right;
      case kShl:
        return right < 64 ? left << right : 0;
      case kShr:
        return right < 64 ? left >> right : 0;
      case kShra:
        return static_cast<std::uint64_t>(signed_left >> (right < 64 ? right : 63));
      case kEq:
        return left == right;
      case kNe:
        return left != right;
      case kGe:
        return signed_left >= signed_right;
      case kGt:
        return signed_left > signed_right;
      case kLe:
        return signed_left <= signed_right;
      case kLt:
        return signed_left < signed_right;
      default:
        return std::nullopt;
    }
  }

  bool push_register(std::uint64_t number) {
    const auto offset = read_signed_varint(reader_);
    const auto value = context_.register_value(number);
    return offset && value && push(*value + static_cast<std::uint64_t>(*offset));
  }

  bool push_memory(std::size_t size_bytes) {
    const auto address = pop();
    return address && push(context_.memory(*address, size_bytes));
  }

  // By a signed distance from the next operation.
  bool jump(bool taken) {
    const auto distance = reader_.read<std::int16_t>();
    if (!distance) return false;
    if (!taken) return true;
    const auto target = static_cast<std::int64_t>(expression_.size() - reader_.remaining()) + *distance;
    if (target < 0 || target > static_cast<std::int64_t>(expression_.size())) return false;
    reader_ = ByteReader(expression_.subspan(static_cast<std::size_t>(target)));
    return true;
  }

  std::span<const std::byte> expression_;
  const ExpressionContext& context_;
  ByteReader reader_;
  std::array<std::uint64_t, kMaxStack> stack_{};
  std::size_t size_ = 0;
};

}  // namespace

std::optional<std::uint64_t> evaluate_expression(std::span<const std::byte> expression,
                                                 const ExpressionContext& context,
                                                 std::optional<std::uint64_t> initial) {
  return Evaluator(expression, context).run(initial);
}

}  // namespace nodescope
