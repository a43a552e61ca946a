#include "formats/perf_script/stack_builder.h"

namespace nodescope {

void LineTable::clear() {
  meanings_.clear();
  several_.clear();
  frames_.clear();
}

LineTable::Meaning LineTable::interpret(std::string_view line) {
  const auto frames = interpret_(line);
  if (!frames) return kNotUnderstood;
  if (frames->size() == 1) return static_cast<Meaning>(frames->front().value + kFirst);
  several_.push_back({frames_.size(), frames->size()});
  frames_.insert(frames_.end(), frames->begin(), frames->end());
  return static_cast<Meaning>(several_.size() - 1 + kSeveral);
}

void LineHashes::set(const LineBlock& block) {
  hashes_.resize(block.size());
  for (std::size_t i = 0; i < block.size(); ++i) hashes_[i] = hash_line(block.line(i), keys_);
}

std::uint32_t StackBuilder::finish(StackId root) {
  std::uint32_t& known = known_[extend(hash_, root.value, frames_.size(), keys_)];
  if (known == 0) {
    StackId stack = root;
    for (std::size_t i = frames_.size(); i-- != 0;) stack = push(stack, frames_[i]);
    distinct_.push_back(stack);
    known = static_cast<std::uint32_t>(distinct_.size());
  }
  const std::uint32_t number = known - 1;
  discard();
  return number;
}

void StackBuilder::discard() {
  frames_.clear();
  hash_ = {keys_.high, keys_.low};
}

StackId StackBuilder::push(StackId caller, FrameId frame) {
  if (caller.index() >= last_callees_.size()) last_callees_.resize(stacks_.size() + stacks_.size() / 2);
  StackId& guess = last_callees_[caller.index()];
  if (guess == kEmptyStack || stacks_.frame(guess) != frame) guess = stacks_.push(caller, frame);
  return guess;
}

}  // namespace nodescope
