#include <string_view>

#include "base/check.h"
#include "source_maps/script_functions.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const nodescope::ScriptFunctions functions({reinterpret_cast<const char*>(data), size});
  for (const auto& function : functions.all()) {
    NODESCOPE_CHECK(function.begin <= function.parameters && function.parameters <= function.first_parameter);
    NODESCOPE_CHECK(function.first_parameter <= size);
    NODESCOPE_CHECK(functions.find(function.begin) != nullptr);
  }
  return 0;
}
