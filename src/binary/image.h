#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "binary/eh_frame.h"
#include "binary/elf_file.h"
#include "binary/symbol_table.h"
#include "binary/unwinder.h"

namespace nodescope {

// A binary that is mapped somewhere, with its separate debug file: what its code is called and how to unwind
// it.  The same for a process that runs, for a core and for a recording.
class Image {
 public:
  explicit Image(OwnedElf elf, std::optional<OwnedElf> debug = std::nullopt)
      : elf_(std::move(elf)), debug_(std::move(debug)) {}

  const ElfFile& file() const { return elf_.file(); }
  bool has_debug_file() const { return debug_.has_value(); }

  // Each is built when it is first asked for; the symbols of node take a tenth of a second.
  const UnwindTable& unwind();
  const SymbolTable& symbols();
  const std::optional<Range<FileOffset>>& embedded_builtins();
  // Builds all of it; after that only few pages of the file are needed again.
  void prepare();

  // In a binary without PT_LOAD segments the sections say where a place of the file is meant to be.
  std::optional<FileAddress> address_of(FileOffset offset) const;
  std::optional<Symbol> symbol_at(FileOffset offset);
  // For the unwinder: what is at `pc`, where `offset` is mapped, within the mapping `range`.
  CodeRegion region_at(Address pc, FileOffset offset, Range<Address> range);
  // The bytes from `offset` on, of the segment that it is in.
  std::span<const std::byte> content_at(FileOffset offset) const;

 private:
  OwnedElf elf_;
  std::optional<OwnedElf> debug_;
  std::optional<UnwindTable> unwind_;
  std::optional<SymbolTable> symbols_;
  std::optional<std::optional<Range<FileOffset>>> builtins_;
};

// Whom a return address belongs to.  It is behind the call, which may be the last instruction of its
// function. But what was not called may return to the first instruction of a function: a signal handler to
// its trampoline, V8 to the code that goes on after a deoptimization, an interrupt to wherever it came.  No
// call is in the padding before such a function, which has no symbol or, in the kernel, one that begins with
// "__pfx_".
//
// `resolve` tells what is at an address, `name_of` its name, empty if it has none.
template <typename Resolve, typename NameOf>
auto resolve_caller(Address return_address, Resolve resolve, NameOf name_of) {
  auto before = resolve(return_address - 1);
  const std::string_view name = name_of(before);
  if (!name.empty() && !name.starts_with("__pfx_")) return before;
  return resolve(return_address);
}

}  // namespace nodescope
