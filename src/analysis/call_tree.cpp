#include "analysis/call_tree.h"

#include "analysis/label_trie.h"

namespace nodescope {

CallTree derive_call_tree(const Profile& profile, const CallTreeOptions& options) {
  Diagnostics diagnostics;
  auto labels = std::make_shared<LabelTable>(options.labels);
  SampledTrie sampled = build_label_trie(
      profile, {options.event, options.count, options.root, options.time_order}, *labels, diagnostics);

  if (options.collapse_recursion || options.time_order) {
    LabelMerger merger(options.collapse_recursion);
    const std::vector<std::uint32_t> node_of = merger.add(sampled.trie);
    for (TrieSample& sample : sampled.sequence) sample.node = node_of[sample.node];
    sampled.trie = merger.take();
  }

  CallTree tree;
  if (options.time_order) {
    tree = grow_chart(sampled.trie, sampled.sequence, labels, options.min_total);
  } else if (options.reversed) {
    tree = grow_reversed_tree(sampled.trie, labels, options.min_total);
  } else {
    tree = grow_tree(sampled.trie, labels, options.min_total);
  }
  if (options.event.index() < profile.events().size()) {
    const Event& event = profile.event(options.event);
    tree.event = profile.text(event.name);
    tree.unit = options.count == CountBy::kSamples ? Unit::kSamples : event.unit;
  }
  tree.reversed = options.reversed;
  tree.time_order = options.time_order;
  tree.diagnostics.merge(diagnostics);
  return tree;
}

}  // namespace nodescope
