#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "binary/address.h"
#include "binary/eh_frame_entry.h"
#include "binary/elf_file.h"

namespace nodescope {

// x86-64 registers by their DWARF numbers.
enum class Register : std::uint8_t {
  kRax,
  kRdx,
  kRcx,
  kRbx,
  kRsi,
  kRdi,
  kRbp,
  kRsp,
  kR8,
  kR9,
  kR10,
  kR11,
  kR12,
  kR13,
  kR14,
  kR15,
  kRip,
};
constexpr std::size_t kRegisterCount = 17;

// How a register of the calling function is found.
enum class RuleKind : std::uint8_t {
  kSame,          // not changed by this function
  kUndefined,     // lost
  kAtCfa,         // in memory at CFA + value
  kCfa,           // is CFA + value
  kRegister,      // is in register `value`
  kAtExpression,  // in memory at the address that the expression gives; `value` is its offset in .eh_frame
  kExpression,    // is what the expression gives
};

struct RegisterRule {
  RuleKind kind = RuleKind::kSame;
  std::int32_t value = 0;

  bool operator==(const RegisterRule&) const = default;
};

// The canonical frame address: the value of rsp before the call.
struct CfaRule {
  RuleKind kind =
      RuleKind::kUndefined;  // kRegister: base + offset; kExpression: `offset` is its offset in .eh_frame
  std::uint8_t base = 0;
  std::int32_t offset = 0;

  bool operator==(const CfaRule&) const = default;
};

// How to find the caller's registers when stopped at one place of a function.
struct UnwindRow {
  CfaRule cfa;
  std::array<RegisterRule, kRegisterCount> registers;
  bool signal_frame = false;  // the caller was interrupted: its pc is not behind a call

  bool operator==(const UnwindRow&) const = default;
};

// The unwind rules of one binary, from .eh_frame.  Immutable once built, so threads may share it.  Borrows
// from the ELF file.
class UnwindTable {
 public:
  // Never fails: a binary without .eh_frame, or for another machine than x86-64, gives an empty table.
  static UnwindTable build(const ElfFile& binary);

  // Interprets the table for one place; callers cache the result.
  std::optional<UnwindRow> find(FileAddress pc) const;

  // The function's range as .eh_frame has it.
  std::optional<Range<FileAddress>> find_function(FileAddress pc) const;

  // The DWARF expression at an offset that a rule has.
  std::span<const std::byte> expression(std::int32_t offset) const;

  // Functions in the order of their addresses.
  bool empty() const { return size() == 0; }
  std::size_t size() const;
  std::optional<Range<FileAddress>> function(std::size_t index) const;

 private:
  struct IndexEntry {
    std::uint64_t function;
    std::uint64_t offset;  // of its FDE in the section

    auto operator<=>(const IndexEntry&) const = default;
  };

  bool use_header(const ElfFile& binary);
  void build_index();
  IndexEntry index_entry(std::size_t position) const;
  std::optional<EhFrameFunction> find_entry(FileAddress pc) const;

  EhFrameSection section_;
  // One of the two: the binary's own search table (.eh_frame_hdr: two 32-bit distances from its begin for
  // each function), or one made by a scan.
  std::span<const std::byte> search_table_;
  FileAddress search_table_base_;
  std::vector<IndexEntry> index_;
};

}  // namespace nodescope
