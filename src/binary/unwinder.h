#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/flat_map.h"
#include "base/hash.h"
#include "binary/address.h"
#include "binary/eh_frame.h"

namespace nodescope {

// The registers of a thread, by DWARF number.  A register that was not sampled is not known.
class RegisterSet {
 public:
  void set(Register which, std::uint64_t value) {
    values_[static_cast<std::size_t>(which)] = value;
    known_ |= 1u << static_cast<unsigned>(which);
  }
  void forget(Register which) { known_ &= ~(1u << static_cast<unsigned>(which)); }
  std::optional<std::uint64_t> get(Register which) const {
    if ((known_ >> static_cast<unsigned>(which) & 1u) == 0) return std::nullopt;
    return values_[static_cast<std::size_t>(which)];
  }

 private:
  std::array<std::uint64_t, kRegisterCount> values_{};
  std::uint32_t known_ = 0;
};

// A copy of the stack, from the stack pointer upwards.
struct StackSnapshot {
  Address begin;
  std::span<const std::byte> bytes;
};

enum class CodeKind : std::uint8_t {
  kUnknown,
  kNative,  // compiled ahead of time: .eh_frame tells
  kFramed,  // V8's generated code and embedded builtins: always with a frame pointer, never in .eh_frame
};

// What is at a pc.  It holds for every pc in `range`, so the unwinder asks once per region and stack.
struct CodeRegion {
  CodeKind kind = CodeKind::kUnknown;
  Range<Address> range;
  const UnwindTable* table = nullptr;  // kNative; null: the binary could not be read
  std::uint64_t bias = 0;              // kNative: FileAddress = Address - bias
};

class CodeMap {
 public:
  virtual ~CodeMap() = default;

  virtual CodeRegion find(Address pc) = 0;

  // The code from `begin` up to `end`, to see whether a framed function has set up its frame yet; shorter or
  // empty where it is not known.  Only asked for the innermost frame.
  virtual std::span<const std::byte> code(Range<Address> range) = 0;

  // Where the function that `pc` is in begins, if that is known.  Only asked for the innermost frame, and for
  // code without rules.
  virtual std::optional<Address> function_begin(Address) { return std::nullopt; }

  // A word that the copy of the stack does not hold, as it is now: of the 128 bytes below the stack pointer,
  // which functions that call nothing may use, or of the addresses that code calls through.
  virtual std::optional<std::uint64_t> word_now(Address) { return std::nullopt; }
};

// Why a stack ends where it ends.
enum class UnwindEnd : std::uint8_t {
  kRoot,         // the outermost frame: complete
  kNoRule,       // in code that neither .eh_frame nor a frame pointer explains
  kSnapshotEnd,  // more stack than was copied
  kImplausible,  // the next frame would not lie above this one
  kTooDeep,      // kMaxFrames
};

std::string_view to_string(UnwindEnd end);

struct UnwoundStack {
  // Innermost first: the pc, then return addresses, for which callers look up address - 1 (see `exact`).
  // Borrowed from the unwinder until its next call.
  std::span<const Address> pcs;
  UnwindEnd end = UnwindEnd::kRoot;
  // Native frames without unwind rules that were passed by their frame pointer.  A frame between may be
  // missing.
  std::uint32_t guessed_frames = 0;
  // rbp in each of them, borrowed like pcs; 0 where it is not known.
  std::span<const Address> frame_pointers;
};

// Walks from registers and a copy of the stack to the list of callers, through native code, V8's generated
// code and its embedded builtins.  Reads only the snapshot.  One per thread: it caches rules, by their table,
// so the tables must outlive it.
class Unwinder {
 public:
  // V8's default stack of 984 KB holds some ten thousand; node --stack-size allows more.
  static constexpr std::size_t kMaxFrames = 1 << 16;

  UnwoundStack unwind(const RegisterSet& registers, StackSnapshot stack, CodeMap& code);

 private:
  friend class StackWalk;

  struct RuleKey {
    const UnwindTable* table;
    std::uint64_t pc;
    bool operator==(const RuleKey&) const = default;
  };
  struct RuleHash {
    using is_avalanching = void;
    std::uint64_t operator()(const RuleKey& key) const {
      return mix(key.pc ^ 0x9E3779B97F4A7C15u,
                 reinterpret_cast<std::uintptr_t>(key.table) ^ 0xE7037ED1A0B428DBu);
    }
  };

  // Null where the table has no rule.  Valid until the next call.
  const UnwindRow* find_row(const UnwindTable& table, FileAddress pc);

  FlatMap<RuleKey, std::uint32_t, RuleHash> row_indices_;
  std::vector<UnwindRow> rows_;
  std::vector<Address> pcs_;
  std::vector<Address> frame_pointers_;
};

}  // namespace nodescope
