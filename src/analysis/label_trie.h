#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/call_tree.h"

namespace nodescope {

// Stacks of labels.  Node 0 is the root, and a parent's index is smaller than its children's.  Until
// merge_labels two children of one node may have the same label.
struct LabelTrie {
  std::vector<std::uint32_t> parents;
  std::vector<LabelId> labels;
  std::vector<FrameTraits> traits;
  std::vector<std::uint64_t> self;
  // Of a comparison, else empty.
  std::vector<std::uint64_t> before_self;
  std::vector<std::uint64_t> after_self;

  std::size_t size() const { return parents.size(); }
  bool is_comparison() const { return !before_self.empty(); }
  std::uint32_t add(std::uint32_t parent, LabelId label, FrameTraits node_traits);
};

// A sample: the node of its stack and what it counts.
struct TrieSample {
  std::uint32_t node = 0;
  std::uint64_t weight = 0;
};

struct SampledTrie {
  LabelTrie trie;
  std::vector<TrieSample> sequence;  // if asked for: by root, then by time
  std::uint64_t total = 0;
};

struct TrieOptions {
  EventId event;
  CountBy count = CountBy::kWeight;
  RootBy root = RootBy::kNone;
  bool keep_sequence = false;
};

// The stacks that samples of the event have.  Weights that add up to more than kMaxTotal are clipped there.
SampledTrie build_label_trie(const Profile& profile, const TrieOptions& options, LabelTable& labels,
                             Diagnostics& diagnostics);

// Far beyond any recording, and sums and differences of totals cannot overflow.
constexpr std::uint64_t kMaxTotal = std::uint64_t{1} << 62;

// What a node and all below it have, by node.
std::vector<std::uint64_t> sum_totals(const LabelTrie& trie, const std::vector<std::uint64_t>& self);

// Children with the same label become one.
class LabelMerger {
 public:
  // With `collapse_recursion` a child with its parent's label becomes the parent.
  explicit LabelMerger(bool collapse_recursion);

  // The merged node of every node of `trie`.
  std::vector<std::uint32_t> add(const LabelTrie& trie);

  const LabelTrie& trie() const { return merged_; }
  LabelTrie take() { return std::move(merged_); }

 private:
  bool collapse_recursion_;
  LabelTrie merged_;
  std::vector<std::uint64_t> heaviest_;  // of the nodes that became one, which lends it its traits
  FlatMap<std::uint64_t, std::uint32_t> ids_;
};

// Both directions and the chart, from the same trie.
CallTree grow_tree(const LabelTrie& trie, std::shared_ptr<const LabelTable> labels, std::uint64_t min_total);
CallTree grow_reversed_tree(const LabelTrie& trie, std::shared_ptr<const LabelTable> labels,
                            std::uint64_t min_total);
CallTree grow_chart(const LabelTrie& merged, const std::vector<TrieSample>& sequence,
                    std::shared_ptr<const LabelTable> labels, std::uint64_t min_total);

}  // namespace nodescope
