#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/flat_map.h"

namespace nodescope::v8 {

// What the bytes of a WebAssembly module say about its functions.  A function has a number, that of the
// imported ones first.
class WasmFunctions {
 public:
  // What can be had of damaged bytes.
  static WasmFunctions parse(std::string_view bytes);

  // From the module's name section, or "wasm-function[7]", as V8 calls it.
  std::string name(std::uint32_t number) const;
  // Where in the module its code begins: places in code count from there.
  std::optional<std::uint32_t> code_offset(std::uint32_t number) const;

 private:
  WasmFunctions() = default;

  FlatMap<std::uint64_t, std::string> names_;  // by number
  std::optional<std::uint64_t> imported_;      // how many functions are
  std::vector<std::uint32_t> code_offsets_;    // of the others
};

}  // namespace nodescope::v8
