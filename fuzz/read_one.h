#pragma once

#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "formats/format.h"

namespace nodescope {

// What every reader's fuzz target does: read, and if there is a profile, every id in it must be in range and
// a writer of the same format must take it.
inline int fuzz_reader(const Format& format, const std::uint8_t* data, std::size_t size,
                       FileOpener* files = nullptr) {
  MemorySource source(std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
  ReadOptions options;
  options.files = files;
  const auto profile = format.read(source, options);
  if (!profile) {
    NODESCOPE_CHECK(!profile.error().message.empty());
    return 0;
  }
  for (std::size_t i = 0; i < profile->samples.size(); ++i) {
    NODESCOPE_CHECK(profile->samples.stack(i).index() < profile->stacks.size());
    NODESCOPE_CHECK(profile->samples.context(i).thread.index() < profile->threads().size());
    NODESCOPE_CHECK(profile->samples.context(i).event.index() < profile->events().size());
  }
  for (std::size_t i = 1; i < profile->stacks.size(); ++i) {
    NODESCOPE_CHECK(profile->stacks.caller(StackId{i}).index() < i);
    NODESCOPE_CHECK(profile->stacks.frame(StackId{i}).index() < profile->frames.size());
  }
  if (format.write != nullptr) {
    StringSink sink;
    NODESCOPE_CHECK(format.write(*profile, {}, sink).has_value());
  }
  return 0;
}

}  // namespace nodescope
