#include "base/check.h"
#include "binary/jitdump.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nodescope;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Diagnostics diagnostics;
  const auto dump = JitDump::parse(as_byte_span(bytes), diagnostics);
  if (!dump) {
    NODESCOPE_CHECK(!dump.error().message.empty());
    return 0;
  }
  JitTimeline timeline(*dump, JitClock{});
  for (const JitCode& code : dump->codes()) {
    NODESCOPE_CHECK(code.range.begin <= code.range.end);
    timeline.advance(code.time);
    const JitCode* found = timeline.find(code.range.begin);
    NODESCOPE_CHECK(found == nullptr || found->range.contains(code.range.begin));
  }
  return 0;
}
