#include "binary/demangle.h"

#include <optional>

#include "binary/itanium_name.h"
#include "binary/rust_name.h"

namespace nodescope {

std::string demangle(std::string_view name) {
  std::optional<std::string> plain;
  if (name.size() <= kMaxMangledBytes) {
    if (name.starts_with("_Z")) {
      // Rust's older names are valid C++ names, which end with a hash.
      plain = demangle_rust_legacy(name);
      if (!plain) plain = demangle_itanium(name);
    } else if (name.starts_with("_R")) {
      plain = demangle_rust_v0(name);
    }
  }
  return plain ? *std::move(plain) : std::string(name);
}

}  // namespace nodescope
