#include "formats/sentry/sentry.h"
#include "read_one.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return nodescope::fuzz_reader(nodescope::kSentryFormat, data, size);
}
