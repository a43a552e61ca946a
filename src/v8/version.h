#pragma once

#include <compare>
#include <optional>
#include <string_view>

#include "target/binary_versions.h"

namespace nodescope::v8 {

using nodescope::BinaryVersions;
using nodescope::read_versions;

struct Version {
  int major = 0;
  int minor = 0;
  int build = 0;

  auto operator<=>(const Version&) const = default;
};

// "11.3.244.8-node.38".
std::optional<Version> parse_version(std::string_view text);

}  // namespace nodescope::v8
