#include "base/check.h"
#include "formats/firefox/sidecar.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nodescope;
  MemorySource source(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
  Diagnostics diagnostics;
  firefox::Sidecar sidecar;
  sidecar.read(source, diagnostics);
  const auto name = sidecar.symbol("5C0A0D51EA1980DF43F203B4525BE9BE0", "", 4660);
  NODESCOPE_CHECK(!name || name->size() <= size * 3);
  return 0;
}
