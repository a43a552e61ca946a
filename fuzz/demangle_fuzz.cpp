#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "binary/demangle.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view name(reinterpret_cast<const char*>(data), size);
  // A little more than the bound of what is demangled, for what nodes print around their parts.
  NODESCOPE_CHECK(nodescope::demangle(name).size() <= std::max(size, 8 * nodescope::kMaxDemangledBytes));
  return 0;
}
