#include "analysis/sandwich.h"

#include <cmath>

#include "analysis/label_trie.h"

namespace nodescope {

namespace {

constexpr std::uint32_t kNowhere = UINT32_MAX;

// All labels that have the parts of one function become one.
LabelId unite_labels(LabelTrie& trie, const LabelTable& labels, const LabelParts& function) {
  LabelId first;
  std::vector<bool> is_function(labels.size());
  for (std::size_t i = 1; i < labels.size(); ++i) {
    if (labels[LabelId{i}].is_name || labels.parts(LabelId{i}) != function) continue;
    is_function[i] = true;
    if (first == LabelId{}) first = LabelId{i};
  }
  for (LabelId& label : trie.labels) {
    if (is_function[label.index()]) label = first;
  }
  return first;
}

// What lies below the outermost calls of `function`, which becomes the root.
LabelTrie below_outermost(const LabelTrie& trie, LabelId function) {
  LabelTrie below;
  below.add(0, LabelId{}, {});
  std::vector<std::uint32_t> node_of(trie.size(), kNowhere);
  for (std::size_t i = 1; i < trie.size(); ++i) {
    const std::uint32_t parent = node_of[trie.parents[i]];
    if (parent != kNowhere) {
      node_of[i] = below.add(parent, trie.labels[i], trie.traits[i]);
    } else if (trie.labels[i] == function) {
      node_of[i] = 0;
    }
    if (node_of[i] != kNowhere) below.self[node_of[i]] += trie.self[i];
  }
  return below;
}

// The same stacks, cut off below the innermost call of `function`; others have nothing.
LabelTrie cut_below_innermost(LabelTrie trie, LabelId function) {
  std::vector<std::uint32_t> innermost(trie.size(), kNowhere);
  std::vector<std::uint64_t> self(trie.size());
  for (std::uint32_t i = 1; i < trie.size(); ++i) {
    innermost[i] = trie.labels[i] == function ? i : innermost[trie.parents[i]];
    if (innermost[i] != kNowhere) self[innermost[i]] += trie.self[i];
  }
  trie.self = std::move(self);
  return trie;
}

// Takes away the root of a tree whose only child is the function.
void drop_root(CallTree& tree) {
  if (tree.nodes.size() < 2) return;
  tree.nodes.erase(tree.nodes.begin());
  tree.traits.erase(tree.traits.begin());
  for (CallNode& node : tree.nodes) {
    --node.depth;
    if (node.parent != 0) --node.parent;
    if (node.child_count != 0) --node.first_child;
  }
}

}  // namespace

Sandwich derive_sandwich(const Profile& profile, const LabelParts& function, const SandwichOptions& options) {
  Sandwich sandwich;
  Diagnostics diagnostics;
  auto labels = std::make_shared<LabelTable>(options.labels);
  SampledTrie sampled =
      build_label_trie(profile, {options.event, options.count, RootBy::kNone, false}, *labels, diagnostics);
  const LabelId label = unite_labels(sampled.trie, *labels, function);
  if (options.event.index() < profile.events().size()) {
    sandwich.unit = options.count == CountBy::kSamples ? Unit::kSamples : profile.event(options.event).unit;
  }
  if (label == LabelId{}) {
    sandwich.callers.labels = sandwich.callees.labels = labels;
    return sandwich;
  }
  for (std::size_t i = 1; i < sampled.trie.size(); ++i) {
    if (sampled.trie.labels[i] == label) sandwich.self += sampled.trie.self[i];
  }
  const LabelTrie below = below_outermost(sampled.trie, label);
  for (const std::uint64_t self : below.self) sandwich.total += self;
  const auto least = static_cast<std::uint64_t>(std::ceil(options.min * static_cast<double>(sandwich.total)));
  sandwich.callees = grow_tree(below, labels, least);
  sandwich.callees.nodes.front().label = label;
  sandwich.callers = grow_reversed_tree(cut_below_innermost(std::move(sampled.trie), label), labels, least);
  drop_root(sandwich.callers);
  sandwich.callers.unit = sandwich.callees.unit = sandwich.unit;
  return sandwich;
}

}  // namespace nodescope
