// The core of a process, from anywhere.
#include <cstdint>
#include <span>

#include "base/check.h"
#include "binary/core_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nodescope;
  Diagnostics diagnostics;
  const auto core = CoreFile::parse(std::as_bytes(std::span(data, size)), diagnostics);
  if (!core) {
    NODESCOPE_CHECK(!core.error().message.empty());
    return 0;
  }
  Address end;
  for (const CoreSegment& segment : core->segments()) {
    NODESCOPE_CHECK(segment.range.begin >= end && segment.range.begin < segment.range.end);
    NODESCOPE_CHECK(segment.content.size() <= segment.range.size_bytes());
    NODESCOPE_CHECK(segment.content.size() <= size);
    end = segment.range.end;
  }
  end = {};
  for (const CoreMapping& mapping : core->mappings()) {
    NODESCOPE_CHECK(mapping.range.begin >= end && mapping.path.size() <= size);
    end = mapping.range.end;
  }
  NODESCOPE_CHECK(core->cut_bytes() <= core->dumped_bytes());
  return 0;
}
