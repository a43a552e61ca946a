#include "binary/leaf_frame.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace nodescope {

namespace {

constexpr std::size_t kBuiltinAlignment = 32;

// A prologue further away is that of a path, not of the function: the checks at the begin of a JavaScript
// function (is its code still valid? which tier?) have less than 96 bytes.
constexpr std::size_t kMaxChecksBytes = 96;

constexpr std::array kPrologue = {std::byte{0x55}, std::byte{0x48}, std::byte{0x89}, std::byte{0xE5}};

bool has_prologue_at(std::span<const std::byte> bytes, std::size_t at) {
  if (at > bytes.size() || bytes.size() - at < kPrologue.size()) return false;
  return std::ranges::equal(bytes.subspan(at, kPrologue.size()), kPrologue);
}

// A builtin that makes the frame of the function that called it, whose return address it takes off the stack
// before: `pop r8` to `pop r15`.  It is left on several paths.
bool makes_frame_of_caller(std::span<const std::byte> bytes) {
  constexpr auto kBetweenBuiltins = std::byte{0xCC};
  const auto head = bytes.first(std::min(bytes.size(), kLeafHeadBytes));
  const auto own =
      head.first(static_cast<std::size_t>(std::ranges::find(head, kBetweenBuiltins) - head.begin()));
  const auto found = std::ranges::search(own, kPrologue);
  const auto prologue = static_cast<std::size_t>(found.begin() - own.begin());
  if (found.empty() || prologue < 2) return false;
  return own[prologue - 2] == std::byte{0x41} && (own[prologue - 1] & std::byte{0xF8}) == std::byte{0x58};
}

// It reserves no words on the stack that it does not write to, so that what lies there is no leftover.
LeafFrame find_frame_made_for_caller(const LeafCode& code) {
  if (!code.top_is_return_address) return LeafFrame::kComplete;
  return code.second_is_return_address ? LeafFrame::kTwoReturns : LeafFrame::kOnlyReturn;
}

constexpr std::size_t kDistanceBytes = 4;

std::uint64_t load_distance(std::span<const std::byte> bytes) {
  std::int32_t distance = 0;
  std::memcpy(&distance, bytes.data(), sizeof distance);
  return static_cast<std::uint64_t>(std::int64_t{distance});
}

// Whether what rbp leads to is as one of the prologues before pc has made it: `push type; sub rsp, size`.
bool has_frame_of_prologue(const LeafCode& code) {
  constexpr auto kPush = std::byte{0x6A};
  constexpr std::array kSubByte = {std::byte{0x48}, std::byte{0x83}, std::byte{0xEC}};
  constexpr std::array kSubWord = {std::byte{0x48}, std::byte{0x81}, std::byte{0xEC}};
  constexpr std::size_t kPrologueAndSize = 13;
  constexpr std::uint64_t kMaxType = 0x7F;
  if (code.frame_bytes < sizeof code.frame_type || code.frame_type > kMaxType) return false;
  const std::uint64_t size = code.frame_bytes - sizeof code.frame_type;
  auto rest = code.bytes.first(std::min(code.pc, code.bytes.size()));
  while (true) {
    const auto found = std::ranges::search(rest, kPrologue);
    rest = rest.subspan(static_cast<std::size_t>(found.begin() - rest.begin()));
    if (rest.size() < kPrologueAndSize) return false;
    const auto sub = rest.subspan(6, 3);
    const bool is_byte = std::ranges::equal(sub, kSubByte);
    if (rest[4] == kPush && rest[5] == std::byte(code.frame_type) &&
        (is_byte || std::ranges::equal(sub, kSubWord))) {
      const std::uint64_t reserved =
          is_byte ? std::to_integer<std::uint64_t>(rest[9]) : load_distance(rest.subspan(9));
      if (reserved == size) return true;
    }
    rest = rest.subspan(1);
  }
}

// The length of an instruction between `mov rsp, rbp; pop rbp` and the end of a function, where the arguments
// are dropped: cmp rcx, n; jg; ret n.  0: another one.
std::size_t leaving_instruction_bytes(std::span<const std::byte> bytes) {
  const auto at = [&](std::size_t index) {
    return index < bytes.size() ? std::to_integer<unsigned>(bytes[index]) : 0u;
  };
  if ((at(0) & 0xF8) == 0x48 && at(1) == 0x83) return 4;
  if ((at(0) & 0xF8) == 0x48 && at(1) == 0x81) return 7;
  if ((at(0) & 0xF8) == 0x48 && (at(1) == 0x39 || at(1) == 0x3B)) return 3;
  if (at(0) >= 0x7C && at(0) <= 0x7F) return 2;
  return at(0) == 0xC2 ? 3 : 0;
}

// Between `mov rsp, rbp; pop rbp` and the return: rbp is the caller's again.
bool has_left_frame(std::span<const std::byte> bytes, std::size_t pc) {
  constexpr std::array kEpilogue = {std::byte{0x48}, std::byte{0x8B}, std::byte{0xE5}, std::byte{0x5D}};
  constexpr std::size_t kMaxLeavingBytes = 16;
  const std::size_t from = pc - std::min(pc, kMaxLeavingBytes + kEpilogue.size());
  const auto before = bytes.subspan(std::min(from, bytes.size()))
                          .first(std::min(pc, bytes.size()) - std::min(from, bytes.size()));
  const auto found = std::ranges::find_end(before, kEpilogue);
  if (found.empty()) return false;
  std::size_t next = from + static_cast<std::size_t>(found.end() - before.begin());
  while (next < pc) {
    const std::size_t length = leaving_instruction_bytes(bytes.subspan(next));
    if (length == 0) return false;
    next += length;
  }
  return next == pc;
}

bool is_return(std::byte byte) {
  return byte == std::byte{0xC3} || byte == std::byte{0xC2};
}

// At the begin: endbr64; bnd jmp [rip + distance], each of the first two or not.  Gives where the jump is, or
// the size where there is none.
std::size_t find_indirect_jump(std::span<const std::byte> bytes) {
  constexpr std::array kEndbr = {std::byte{0xF3}, std::byte{0x0F}, std::byte{0x1E}, std::byte{0xFA}};
  std::size_t at = 0;
  if (bytes.size() >= kEndbr.size() && std::ranges::equal(bytes.first(kEndbr.size()), kEndbr))
    at = kEndbr.size();
  if (at < bytes.size() && bytes[at] == std::byte{0xF2}) ++at;
  const bool is_jump =
      at + 2 <= bytes.size() && bytes[at] == std::byte{0xFF} && bytes[at + 1] == std::byte{0x25};
  return is_jump ? at : bytes.size();
}

}  // namespace

LeafFrame find_leaf_frame(const LeafCode& code) {
  const auto& bytes = code.bytes;
  if (code.pc < bytes.size() && is_return(bytes[code.pc])) return LeafFrame::kOnlyReturn;
  if (code.top_is_return_address && has_left_frame(bytes, code.pc)) return LeafFrame::kOnlyReturn;
  if (has_prologue_at(bytes, code.pc)) return LeafFrame::kOnlyReturn;
  if (code.pc >= 1 && has_prologue_at(bytes, code.pc - 1)) return LeafFrame::kRbpPushed;
  if (!code.from_begin) return LeafFrame::kComplete;
  if (makes_frame_of_caller(bytes)) return find_frame_made_for_caller(code);
  if (code.pc == 0) return LeafFrame::kOnlyReturn;
  // What lies ahead of pc may be of another function.
  const std::size_t head_end = std::min(code.pc, kMaxChecksBytes) + kPrologue.size();
  const auto head = bytes.first(std::min(bytes.size(), head_end));
  const auto found = std::ranges::search(head, kPrologue);
  if (!found.empty()) {
    const auto prologue = static_cast<std::size_t>(found.begin() - head.begin());
    return code.pc < prologue ? LeafFrame::kOnlyReturn : LeafFrame::kComplete;
  }
  // On a path with or without a frame: what lies on top of the stack tells, unless it is in a frame that has
  // room for something, and may be left over from an earlier call.
  return code.top_is_return_address && !has_frame_of_prologue(code) ? LeafFrame::kOnlyReturn
                                                                    : LeafFrame::kComplete;
}

std::size_t find_builtin_begin(std::span<const std::byte> bytes, std::size_t pc,
                               std::uint64_t address_of_bytes) {
  for (std::size_t at = std::min(pc, bytes.size()); at != 0; --at) {
    if ((address_of_bytes + at) % kBuiltinAlignment == 0 && bytes[at - 1] == std::byte{0xCC}) return at;
  }
  return bytes.size();
}

// call rel32; call r/m64 (FF /2) with any address mode, with or without a REX prefix.
bool ends_with_call(std::span<const std::byte> bytes) {
  const std::size_t size = bytes.size();
  const auto at = [&](std::size_t back) { return std::to_integer<std::uint8_t>(bytes[size - back]); };
  if (size >= 5 && at(5) == 0xE8) return true;
  for (const std::size_t length : {2, 3, 4, 6, 7}) {
    if (size < length || at(length) != 0xFF || (at(length - 1) >> 3 & 7) != 2) continue;
    const std::uint8_t mode = at(length - 1) >> 6;
    const std::uint8_t base = at(length - 1) & 7;
    const std::size_t index_byte = mode != 3 && base == 4 ? 1 : 0;
    const std::size_t displacement = mode == 1 ? 1 : mode == 2 || (mode == 0 && base == 5) ? 4 : 0;
    if (length == 2 + index_byte + displacement) return true;
  }
  return false;
}

std::uint64_t direct_call_target(std::span<const std::byte> bytes, std::uint64_t return_address) {
  if (bytes.size() < kDistanceBytes + 1 || bytes[bytes.size() - kDistanceBytes - 1] != std::byte{0xE8})
    return 0;
  return return_address + load_distance(bytes.last(kDistanceBytes));
}

bool begins_with_indirect_jump(std::span<const std::byte> bytes) {
  return find_indirect_jump(bytes) < bytes.size();
}

std::uint64_t jumped_pointer(std::span<const std::byte> bytes, std::uint64_t address) {
  const std::size_t end = find_indirect_jump(bytes) + 2 + kDistanceBytes;
  return end > bytes.size() ? 0 : address + end + load_distance(bytes.subspan(end - kDistanceBytes));
}

std::uint64_t called_pointer(std::span<const std::byte> bytes, std::uint64_t return_address) {
  constexpr std::array kCall = {std::byte{0xFF}, std::byte{0x15}};
  if (bytes.size() < kCall.size() + kDistanceBytes) return 0;
  const auto call = bytes.last(kCall.size() + kDistanceBytes);
  if (!std::ranges::equal(call.first(kCall.size()), kCall)) return 0;
  return return_address + load_distance(call.subspan(kCall.size()));
}

bool has_jump_to(std::span<const std::byte> bytes, std::uint64_t address_of_bytes, std::uint64_t target) {
  for (std::size_t at = 1; at + kDistanceBytes <= bytes.size(); ++at) {
    const bool always = bytes[at - 1] == std::byte{0xE9};
    const bool on_condition =
        at >= 2 && bytes[at - 2] == std::byte{0x0F} && (bytes[at - 1] & std::byte{0xF0}) == std::byte{0x80};
    if (!always && !on_condition) continue;
    if (address_of_bytes + at + kDistanceBytes + load_distance(bytes.subspan(at)) == target) return true;
  }
  return false;
}

}  // namespace nodescope
