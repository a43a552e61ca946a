#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace nodescope {

// Names longer than this are given back as they are: a hostile name of a few kilobytes can unfold into
// gigabytes or into very deep recursion.  A name that would be longer than kMaxDemangledBytes stays mangled
// too.
constexpr std::size_t kMaxMangledBytes = 4096;
constexpr std::size_t kMaxDemangledBytes = std::size_t{64} * 1024;

// The name of a C++ (Itanium ABI) or Rust (legacy and v0) function as `perf script` prints it: without
// parameters and return type, without the mark of a compiler's clone (".cold", ".isra.0"), without the hashes
// of Rust.  Any other name, or one that cannot be demangled, comes back unchanged.
std::string demangle(std::string_view name);

}  // namespace nodescope
