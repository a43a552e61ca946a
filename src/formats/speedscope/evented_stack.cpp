#include "formats/speedscope/evented_stack.h"

namespace nodescope {

void EventedStack::open(FrameId frame) {
  open_.push_back(stacks_.push(stack(), frame));
  ++times_open_[frame.value];
}

void EventedStack::close(FrameId frame, Diagnostics& diagnostics) {
  const auto found = times_open_.find(frame.value);
  if (found == times_open_.end() || found->second == 0) {
    diagnostics.warn("a frame is closed that is not open");
    return;
  }
  if (stacks_.frame(stack()) != frame) diagnostics.warn("a frame is closed before the frames inside of it");
  while (stacks_.frame(stack()) != frame) pop();
  pop();
}

void EventedStack::pop() {
  --times_open_[stacks_.frame(stack()).value];
  open_.pop_back();
}

}  // namespace nodescope
