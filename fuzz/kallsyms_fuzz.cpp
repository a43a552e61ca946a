#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "binary/kallsyms.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nodescope;
  MemorySource source(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
  Diagnostics diagnostics;
  const auto symbols = KernelSymbols::read(source, diagnostics);
  if (!symbols) return 0;
  for (std::size_t i = 0; i < symbols->size(); ++i) {
    const KernelSymbol symbol = (*symbols)[i];
    // Ends are exclusive, so nothing can hold the last of all addresses.
    if (symbol.address.value == UINT64_MAX) continue;
    const auto found = symbols->find(symbol.address);
    NODESCOPE_CHECK(found && found->address == symbol.address);
  }
  (void)symbols->address_of("_text");
  return 0;
}
