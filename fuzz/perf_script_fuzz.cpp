#include "formats/perf_script/perf_script.h"
#include "read_one.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  (void)nodescope::kPerfScriptFormat.recognise(std::string_view(reinterpret_cast<const char*>(data), size));
  return nodescope::fuzz_reader(nodescope::kPerfScriptFormat, data, size);
}
