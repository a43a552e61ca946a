#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "binary/elf_file.h"

namespace nodescope {

// What a binary with V8 says about itself in its read-only data, stripped or not.
struct BinaryVersions {
  std::string v8;    // "11.3.244.8-node.38"; empty: not found
  std::string node;  // "20.20.2"; empty: not found
};
BinaryVersions read_versions(const ElfFile& file);

// "11.3.244" -> 11, 3, 244.  Nothing unless all of `text` is numbers between dots.
std::optional<std::vector<int>> parse_dotted_numbers(std::string_view text);

}  // namespace nodescope
