#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/labels.h"
#include "model/profile.h"

namespace nodescope {

// All stacks of a profile by functions: frames of the same label below the same caller are one node.  Node 0
// is the root, and a parent's index is smaller than its children's.
class FunctionTree {
 public:
  explicit FunctionTree(const Profile& profile);

  std::uint32_t node_of(StackId stack) const { return node_of_[stack.index()]; }
  std::uint32_t parent(std::uint32_t node) const { return parents_[node]; }
  // Of the first stack that made the node.
  FrameId frame(std::uint32_t node) const { return frames_[node]; }
  std::size_t size() const { return parents_.size(); }

  bool is_below(std::uint32_t node, std::uint32_t ancestor) const {
    return enter_[ancestor] <= enter_[node] && enter_[node] < enter_[ancestor] + sizes_[ancestor];
  }
  // The deepest node that has both below it.
  std::uint32_t common(std::uint32_t a, std::uint32_t b) const;

 private:
  void number_in_order();

  std::vector<std::uint32_t> node_of_;
  std::vector<std::uint32_t> parents_;
  std::vector<FrameId> frames_;
  // A node's place in an order in which everything below it follows it, and how many that are with itself.
  std::vector<std::uint32_t> enter_;
  std::vector<std::uint32_t> sizes_;
};

}  // namespace nodescope
