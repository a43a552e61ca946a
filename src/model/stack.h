#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/flat_map.h"
#include "model/frame.h"

namespace nodescope {

struct StackTag;
using StackId = Id<StackTag>;

// The stack without frames: the parent of every outermost frame.
constexpr StackId kEmptyStack{};

// All distinct stacks as a trie.  A stack is its innermost frame and the stack of its caller.  A caller's id
// is always smaller than its callee's, so one pass from the last id to the first sums totals.
class StackTable {
 public:
  StackTable() : frames_(1), callers_(1), first_callees_(1) {}

  // The stack that `frame`, called from `caller`, makes.
  StackId push(StackId caller, FrameId frame);

  // The same stacks with `names[n]` in place of frame n.  No two frames may get the same one.
  StackTable with_frames(std::span<const FrameId> names) &&;

  // Room for the stacks of `other`, for whoever is about to add them to this table.
  void reserve_for(const StackTable& other);

  FrameId frame(StackId stack) const { return frames_[stack.index()]; }
  StackId caller(StackId stack) const { return callers_[stack.index()]; }
  std::size_t size() const { return frames_.size(); }

  // Frames of `stack`, outermost first.
  std::vector<FrameId> unwind(StackId stack) const;

 private:
  static std::uint64_t key(StackId caller, FrameId frame) {
    return std::uint64_t{caller.value} << 32 | frame.value;
  }
  StackId add(StackId caller, FrameId frame);
  void index_further_callees();

  std::vector<FrameId> frames_;
  std::vector<StackId> callers_;
  // Most stacks have one callee, and those of one sample lie beside each other: a stack's first callee is
  // found in its row, and only further ones in a table of hashes, which has no order and misses the cache
  // once it is large.
  std::vector<StackId> first_callees_;  // kEmptyStack: none
  FlatMap<std::uint64_t, StackId> further_callees_;
  bool is_indexed_ = true;  // further_callees_ has all of them
};

}  // namespace nodescope
