#pragma once

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "model/profile.h"

namespace nodescope::testing {

// Folded lines as plain text: every frame is of unknown kind, as in a file that says nothing about kinds.
inline Profile plain_profile_of(std::string_view folded) {
  Profile profile;
  const EventId event = profile.intern_event("samples", Unit::kSamples);
  while (!folded.empty()) {
    const std::size_t end = std::min(folded.find('\n'), folded.size());
    std::string_view line = folded.substr(0, end);
    folded.remove_prefix(std::min(end + 1, folded.size()));
    if (line.empty()) continue;
    const std::size_t space = line.rfind(' ');
    const auto weight = parse_number<std::uint64_t>(line.substr(space + 1)).value();
    line = line.substr(0, space);
    StackId stack = kEmptyStack;
    while (!line.empty()) {
      const std::size_t stop = std::min(line.find(';'), line.size());
      Frame frame;
      frame.function = profile.strings.intern(line.substr(0, stop));
      stack = profile.stacks.push(stack, profile.frames.intern(frame));
      line.remove_prefix(std::min(stop + 1, line.size()));
    }
    profile.samples.add({0, stack, {ThreadId{}, kUnknownCpu, event}, weight});
  }
  return profile;
}

}  // namespace nodescope::testing
