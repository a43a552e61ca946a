#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "binary/eh_frame.h"
#include "binary/elf_file.h"
#include "binary/symbol_table.h"
#include "target/memory.h"
#include "target/process.h"

namespace nodescope {

// A binary that a process has mapped, ready for unwinding and naming.
class Image {
 public:
  explicit Image(OwnedElf elf) : elf_(std::move(elf)), unwind_(UnwindTable::build(elf_.file())) {}

  const ElfFile& file() const { return elf_.file(); }
  const UnwindTable& unwind() const { return unwind_; }
  // Built when it is first asked for, which takes a tenth of a second for node.
  const SymbolTable& symbols();

 private:
  OwnedElf elf_;
  UnwindTable unwind_;
  std::optional<SymbolTable> symbols_;
};

// The binaries of one process, each opened once.
class Images {
 public:
  Images(const LiveProcess& process, Memory& memory) : process_(process), memory_(memory) {}

  // Opens what is executable in the map now.  What cannot be opened is noted and has no image.
  void load_all(Diagnostics& diagnostics);

  // Null for anonymous memory and for what load_all did not open.
  Image* find(const Region& region);

 private:
  // A file, or for the vdso the address of its only mapping.
  struct Key {
    std::string device;
    std::uint64_t number = 0;
    bool operator==(const Key&) const = default;
  };
  static Key key_of(const Region& region);
  Result<OwnedElf> open(const Region& region);

  const LiveProcess& process_;
  Memory& memory_;
  std::vector<std::pair<Key, std::unique_ptr<Image>>> images_;
};

}  // namespace nodescope
