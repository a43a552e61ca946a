#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace nodescope {

// How much of its frame a function of V8's generated code has on the stack, when it is the innermost one.
enum class LeafFrame : std::uint8_t {
  kComplete,    // rbp is its own
  kOnlyReturn,  // nothing but the return address, at rsp; rbp is the caller's
  kRbpPushed,   // rbp is the caller's and lies at rsp, the return address above it
  kTwoReturns,  // as kOnlyReturn, and the caller has no frame yet either: its return address is above
};

// How much of a function's begin tells what kind of prologue it has, also when pc is before that.
inline constexpr std::size_t kLeafHeadBytes = 64;

struct LeafCode {
  // Of the function, or of a part of it: at least up to pc, and may go on behind its end.
  std::span<const std::byte> bytes;
  std::size_t pc = 0;       // index in bytes
  bool from_begin = false;  // bytes begin with the function
  // The word at rsp is an address behind a call instruction.
  bool top_is_return_address = false;
  // The one above it too.
  bool second_is_return_address = false;
  // The words between rsp and rbp, which may be anything, and the one below rbp.
  std::uint64_t frame_bytes = 0;
  std::uint64_t frame_type = 0;
};

// V8 (x64) begins a frame with `push rbp; mov rbp, rsp`.  JavaScript functions and most builtins do so at
// their very begin or behind a few checks; a third of the builtins, most bytecode handlers among them, only
// on those paths that call something, or never.
//
// Functions of baseline code have theirs made by a builtin, BaselineOutOfLinePrologue, which they call first.
LeafFrame find_leaf_frame(const LeafCode& code);

// Where the builtin around index `pc` of the embedded builtins begins: they are aligned to 32 bytes at least
// and what lies between them is filled with int3.  `bytes.size()` if that is not in these bytes.
std::size_t find_builtin_begin(std::span<const std::byte> bytes, std::size_t pc,
                               std::uint64_t address_of_bytes);

// `bytes` ends where a return address points to: is there a call instruction?
bool ends_with_call(std::span<const std::byte> bytes);

// Where the `call rel32` leads to that ends at `return_address`, and with which `bytes` end; 0: another
// instruction.
std::uint64_t direct_call_target(std::span<const std::byte> bytes, std::uint64_t return_address);

// A stub of the linker, which leads to a function of any module.
bool begins_with_indirect_jump(std::span<const std::byte> bytes);

// Where the address lies that such a stub at `address` jumps to, or that the `call [rip + distance]` leads to
// which `bytes` end with; 0: another instruction.
std::uint64_t jumped_pointer(std::span<const std::byte> bytes, std::uint64_t address);
std::uint64_t called_pointer(std::span<const std::byte> bytes, std::uint64_t return_address);

// Whether something in these bytes looks like a jump to `target`, on a condition or without, by a 32-bit
// distance.
bool has_jump_to(std::span<const std::byte> bytes, std::uint64_t address_of_bytes, std::uint64_t target);

}  // namespace nodescope
