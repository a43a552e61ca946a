#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "binary/address.h"
#include "binary/elf_file.h"

namespace nodescope {

struct Symbol {
  FileAddress address;
  std::uint64_t size_bytes = 0;
  std::string_view name;     // as it is in the file, mangled; borrowed from it
  bool is_plt_stub = false;  // jumps to `name` in another module

  bool operator==(const Symbol&) const = default;
};

// What `perf script` prints for it: demangled, "@plt" after a stub's name.
std::string display_name(const Symbol& symbol);

// The code symbols of a binary by address.  Names are views into the ELF files, which must outlive the table.
//
// Which symbol an address belongs to, where there is a choice, follows perf (tools/perf/util/symbol.c): of
// symbols at one address the one with a size, then the non-weak, the global, the one with fewer leading
// underscores, the longer name.  A symbol without a size reaches to the next one, but not out of its section.
// Of overlapping symbols the one that begins last wins until its end.
class SymbolTable {
 public:
  // Symbols beyond this number are not read: the largest binaries have one or two million.
  static constexpr std::size_t kMaxSymbols = 8'000'000;

  SymbolTable() = default;

  // From .symtab of `debug` (the separate debug file, may be null), else of `binary`; .dynsym where there is
  // none; and the PLT stubs of `binary`.
  static SymbolTable build(const ElfFile& binary, const ElfFile* debug = nullptr);

  std::optional<Symbol> find(FileAddress address) const;

  bool empty() const { return begins_.empty(); }
  // Pieces of address space that belong to one symbol; at least one for each symbol that owns an address.
  std::size_t size() const { return begins_.size(); }
  Symbol operator[](std::size_t index) const;
  std::size_t memory_bytes() const;

 private:
  friend class SymbolTableBuilder;

  // Where the names of a piece are: a table and an offset in it.
  enum class Source : std::uint8_t { kSymbols, kPltStub };
  struct Piece {
    std::uint64_t symbol_address;
    std::uint64_t symbol_end;
    std::uint64_t end;  // of the piece, not of the symbol
    std::uint32_t name;
    Source source;
  };

  std::vector<std::uint64_t> begins_;  // sorted; apart from the pieces, so that a search stays in the cache
  std::vector<Piece> pieces_;
  ElfSymbols symbol_names_;
  ElfSymbols stub_names_;
};

}  // namespace nodescope
