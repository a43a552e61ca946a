#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "formats/perf_script/collapse.h"

// The first byte chooses the options.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nodescope;
  if (size == 0) return 0;
  CollapseOptions options;
  options.pid = (data[0] & 1) != 0;
  options.tid = (data[0] & 2) != 0;
  options.kernel = (data[0] & 4) != 0;
  options.jit = (data[0] & 8) != 0;
  options.addrs = (data[0] & 16) != 0;
  options.srcline = (data[0] & 32) != 0;
  options.inlined = (data[0] & 64) != 0;
  if (options.inlined) {
    options.resolve_inlined = [](std::string_view address, std::string_view, std::string_view module) {
      return std::string(address) + ";" + std::string(module);
    };
  }
  MemorySource source(std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1), "fuzz");
  StringSink sink;
  NODESCOPE_CHECK(collapse_perf_script(source, options, {}, sink).has_value());
  NODESCOPE_CHECK(sink.text().empty() || sink.text().ends_with('\n'));
  return 0;
}
