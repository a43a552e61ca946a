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
  if (!is_indexed_) index_further_callees();
  const auto [entry, added] = further_callees_.try_emplace(key(caller, frame), StackId{frames_.size()});
  return added ? add(caller, frame) : entry->second;
}

// Whoever reads a profile to its end rarely adds stacks to it afterwards, so they are found again only then.
StackTable StackTable::with_frames(std::span<const FrameId> names) && {
  StackTable renamed = std::move(*this);
  for (std::size_t i = 1; i < renamed.frames_.size(); ++i)
    renamed.frames_[i] = names[renamed.frames_[i].index()];
  renamed.further_callees_ = {};
  renamed.is_indexed_ = false;
  return renamed;
}

void StackTable::index_further_callees() {
  is_indexed_ = true;
  for (std::size_t i = 1; i < frames_.size(); ++i) {
    const StackId stack{i};
    if (first_callees_[callers_[i].index()] != stack)
      further_callees_.emplace(key(callers_[i], frames_[i]), stack);
  }
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
