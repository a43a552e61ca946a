#pragma once

#include <link.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>

#include "binary/elf_file.h"

namespace nodescope::testing {

// The test program itself: a real binary whose functions we know.
inline const std::string& own_bytes() {
  static const std::string kBytes = [] {
    std::ifstream file("/proc/self/exe", std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(file), {}};
  }();
  return kBytes;
}

inline const ElfFile& own_binary() {
  static const ElfFile kFile = ElfFile::parse(as_byte_span(own_bytes())).value();
  return kFile;
}

// What the loader added to the addresses of the file.
inline std::uint64_t own_bias() {
  std::uint64_t bias = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* result) {
        *static_cast<std::uint64_t*>(result) = info->dlpi_addr;
        return 1;  // the program is the first
      },
      &bias);
  return bias;
}

}  // namespace nodescope::testing
