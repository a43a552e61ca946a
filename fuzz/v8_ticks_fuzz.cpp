#include "formats/v8_log/v8_log.h"
#include "read_one.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return nodescope::fuzz_reader(nodescope::kV8TicksFormat, data, size);
}
