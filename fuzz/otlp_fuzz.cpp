#include "formats/otlp/otlp.h"
#include "read_one.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return nodescope::fuzz_reader(nodescope::kOtlpFormat, data, size);
}
