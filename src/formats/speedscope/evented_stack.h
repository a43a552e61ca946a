#pragma once

#include <cstdint>
#include <vector>

#include "base/diagnostics.h"
#include "base/flat_map.h"
#include "model/stack.h"

namespace nodescope {

// Follows the open and close events of an evented profile.
class EventedStack {
 public:
  explicit EventedStack(StackTable& stacks) : stacks_(stacks) {}

  void open(FrameId frame);
  // A frame that is open, but not innermost, is closed together with everything inside of it.
  void close(FrameId frame, Diagnostics& diagnostics);

  StackId stack() const { return open_.empty() ? kEmptyStack : open_.back(); }

 private:
  void pop();

  StackTable& stacks_;
  std::vector<StackId> open_;
  FlatMap<std::uint64_t, std::uint32_t> times_open_;  // by frame
};

}  // namespace nodescope
