// Reads what the bytes of a module of WebAssembly say about its functions.
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "base/text.h"
#include "v8/wasm_functions.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto functions = nodescope::v8::WasmFunctions::parse(bytes);
  for (const std::uint32_t number : {0u, 1u, 2u, 3u, 100u, 0xFFFFFFFFu}) {
    const std::string name = functions.name(number);
    NODESCOPE_CHECK(!name.empty() && nodescope::is_valid_utf8(name));
    if (const auto offset = functions.code_offset(number)) NODESCOPE_CHECK(*offset <= size);
  }
  return 0;
}
