#include "base/check.h"
#include "binary/jitdump.h"

namespace {

// A file that is still being written, of which half is there at first.
void follow(std::span<const std::byte> bytes) {
  using namespace nodescope;
  Diagnostics diagnostics;
  const auto first = JitDump::parse_gain(bytes.first(bytes.size() / 2), true, diagnostics);
  if (!first) return;
  NODESCOPE_CHECK(first->used_bytes <= bytes.size() / 2);
  const auto rest = bytes.subspan(first->used_bytes);
  const auto second = JitDump::parse_gain(rest, first->used_bytes == 0, diagnostics);
  NODESCOPE_CHECK(!second || second->used_bytes <= rest.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nodescope;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  follow(as_byte_span(bytes));
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
