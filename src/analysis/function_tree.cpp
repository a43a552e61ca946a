#include "analysis/function_tree.h"

#include "base/flat_map.h"

namespace nodescope {

FunctionTree::FunctionTree(const Profile& profile)
    : node_of_(profile.stacks.size()), parents_(1), frames_(1) {
  LabelTable labels;
  const std::vector<LabelId> label_of_frame = labels.add_frames(profile);
  FlatMap<std::uint64_t, std::uint32_t> ids;
  for (std::size_t i = 1; i < node_of_.size(); ++i) {
    const StackId stack{i};
    const FrameId frame = profile.stacks.frame(stack);
    const std::uint32_t parent = node_of_[profile.stacks.caller(stack).index()];
    const std::uint64_t key = std::uint64_t{parent} << 32 | label_of_frame[frame.index()].value;
    const auto [entry, added] = ids.try_emplace(key, static_cast<std::uint32_t>(parents_.size()));
    if (added) {
      parents_.push_back(parent);
      frames_.push_back(frame);
    }
    node_of_[i] = entry->second;
  }
  number_in_order();
}

void FunctionTree::number_in_order() {
  sizes_.assign(size(), 1);
  for (std::size_t i = size(); i-- > 1;) sizes_[parents_[i]] += sizes_[i];
  enter_.assign(size(), 0);
  std::vector<std::uint32_t> next(size(), 1);  // by parent: where its next child goes, from its own place
  for (std::size_t i = 1; i < size(); ++i) {
    enter_[i] = enter_[parents_[i]] + next[parents_[i]];
    next[parents_[i]] += sizes_[i];
  }
}

std::uint32_t FunctionTree::common(std::uint32_t a, std::uint32_t b) const {
  while (!is_below(b, a)) a = parents_[a];
  return a;
}

}  // namespace nodescope
