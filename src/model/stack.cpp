#include "model/stack.h"

#include <algorithm>

namespace nodescope {

StackId StackTable::push(StackId caller, FrameId frame) {
  const StackId first = first_callees_[caller.index()];
  if (first == kEmptyStack) {
    const StackId stack = add(caller, frame);
    first_callees_[caller.index()] = stack;
    return stack;
  }
  if (frames_[first.index()] == frame) return first;
  const std::uint64_t key = std::uint64_t{caller.value} << 32 | frame.value;
  const auto [entry, added] = further_callees_.try_emplace(key, StackId{frames_.size()});
  return added ? add(caller, frame) : entry->second;
}

void StackTable::reserve_for(const StackTable& other) {
  const std::size_t count = frames_.size() + other.frames_.size();
  frames_.reserve(count);
  callers_.reserve(count);
  first_callees_.reserve(count);
  further_callees_.reserve(further_callees_.size() + other.further_callees_.size());
}

StackId StackTable::add(StackId caller, FrameId frame) {
  const StackId stack{frames_.size()};
  frames_.push_back(frame);
  callers_.push_back(caller);
  first_callees_.emplace_back();
  return stack;
}

std::vector<FrameId> StackTable::unwind(StackId stack) const {
  std::vector<FrameId> frames;
  for (; stack != kEmptyStack; stack = caller(stack)) frames.push_back(frame(stack));
  std::ranges::reverse(frames);
  return frames;
}

}  // namespace nodescope
