#include "model/stack.h"

#include <algorithm>

namespace nodescope {

StackId StackTable::push(StackId caller, FrameId frame) {
  const std::uint64_t key = std::uint64_t{caller.value} << 32 | frame.value;
  const auto [entry, added] = children_.try_emplace(key, StackId{frames_.size()});
  if (added) {
    frames_.push_back(frame);
    callers_.push_back(caller);
  }
  return entry->second;
}

std::vector<FrameId> StackTable::unwind(StackId stack) const {
  std::vector<FrameId> frames;
  for (; stack != kEmptyStack; stack = caller(stack)) frames.push_back(frame(stack));
  std::ranges::reverse(frames);
  return frames;
}

}  // namespace nodescope
