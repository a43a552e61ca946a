#include "base/check.h"
#include "binary/perf_map.h"

// Whatever the text is, the name of an address is that of the last line that covers it.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nodescope;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Diagnostics diagnostics;
  const PerfMap map = PerfMap::parse(text, diagnostics);
  for (std::uint64_t address = 0; address < 0x400; ++address) {
    for (const std::uint64_t base : {std::uint64_t{0}, std::uint64_t{0x1000}, UINT64_MAX - 0x3FF}) {
      const auto name = map.find(Address{base + address});
      if (!name) continue;
      NODESCOPE_CHECK(!name->empty() && name->find('\n') == std::string_view::npos);
      NODESCOPE_CHECK(name->data() >= text.data() &&
                      name->data() + name->size() <= text.data() + text.size());
    }
  }
  return 0;
}
