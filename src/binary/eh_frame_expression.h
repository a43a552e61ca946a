#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace nodescope {

// What an expression may look at.
class ExpressionContext {
 public:
  virtual ~ExpressionContext() = default;
  virtual std::optional<std::uint64_t> register_value(std::uint64_t number) const = 0;
  // `size_bytes` is 1 to 8, little-endian.
  virtual std::optional<std::uint64_t> memory(std::uint64_t address, std::size_t size_bytes) const = 0;
};

// Evaluates a DWARF expression as .eh_frame has them (PLT stubs, signal frames, realigned stacks):
// arithmetic, registers plus offset, memory, branches.  `initial` lies on the stack at first.  Nothing for an
// operation outside of these, a stack of more than 64 values, more than 1000 steps.
std::optional<std::uint64_t> evaluate_expression(std::span<const std::byte> expression,
                                                 const ExpressionContext& context,
                                                 std::optional<std::uint64_t> initial);

}  // namespace nodescope
