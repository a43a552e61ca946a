#pragma once

#include <cstdint>
#include <vector>

#include "binary/address.h"
#include "binary/elf_file.h"

namespace nodescope {

// A piece of .plt or .plt.sec that jumps to a function of another module.
struct PltStub {
  FileAddress address;
  std::uint64_t size_bytes = 0;
  std::uint32_t name = 0;  // in the names of .dynsym
};

// No symbol table has them; each is found by the slot of the GOT that its code jumps through.  Needs section
// headers.
std::vector<PltStub> find_plt_stubs(const ElfFile& binary);

}  // namespace nodescope
