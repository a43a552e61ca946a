#pragma once

#include <compare>
#include <optional>
#include <string>
#include <string_view>

#include "binary/elf_file.h"

namespace nodescope::v8 {

struct Version {
  int major = 0;
  int minor = 0;
  int build = 0;

  auto operator<=>(const Version&) const = default;
};

// "11.3.244.8-node.38".
std::optional<Version> parse_version(std::string_view text);

// What a binary says about itself in its read-only data, stripped or not.
struct BinaryVersions {
  std::string v8;    // "11.3.244.8-node.38"; empty: not found
  std::string node;  // "20.20.2"; empty: not found
};
BinaryVersions read_versions(const ElfFile& file);

}  // namespace nodescope::v8
