#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "analysis/label_trie.h"

namespace nodescope {

namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

// A reversed tree and a chart may be larger than their input by its depth: a stack of a million frames, all
// of them with samples, has 5e11 nodes when reversed.  Frames beyond what this many steps reach are cut, and
// counted.
constexpr std::uint64_t kMaxSteps = 100'000'000;

void add_change(CallChange& sum, const CallChange& part) {
  sum.before_total += part.before_total;
  sum.after_total += part.after_total;
  sum.before_self += part.before_self;
  sum.after_self += part.after_self;
}

std::vector<std::uint32_t> depths_of(const LabelTrie& trie) {
  std::vector<std::uint32_t> depths(trie.size());
  for (std::size_t i = 1; i < depths.size(); ++i) depths[i] = depths[trie.parents[i]] + 1;
  return depths;
}

// The largest depth to which walks of the given lengths can go in kMaxSteps together.
std::uint32_t depth_limit(std::vector<std::uint32_t> lengths) {
  std::ranges::sort(lengths);
  std::uint64_t steps = 0;
  std::uint32_t reached = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    // Going from `reached` to lengths[i] costs a step for every walk that is at least that long.
    const std::uint64_t walks = lengths.size() - i;
    const std::uint64_t affordable = (kMaxSteps - steps) / walks;
    const std::uint64_t wanted = lengths[i] - reached;
    if (wanted > affordable) return std::max(reached + static_cast<std::uint32_t>(affordable), 1u);
    steps += wanted * walks;
    reached = lengths[i];
  }
  return kNone;
}

// Callers above callees.  An item is a node of the trie.
class DownwardSource {
 public:
  using Item = std::uint32_t;

  explicit DownwardSource(const LabelTrie& trie)
      : trie_(trie), totals_(trie.self), first_child_(trie.size(), 0), next_sibling_(trie.size(), 0) {
    for (std::size_t i = trie.size(); i-- > 1;) {
      const std::uint32_t parent = trie.parents[i];
      totals_[parent] += totals_[i];
      next_sibling_[i] = first_child_[parent];
      first_child_[parent] = static_cast<std::uint32_t>(i);
    }
    if (!trie.is_comparison()) return;
    before_totals_ = sum_totals(trie, trie.before_self);
    after_totals_ = sum_totals(trie, trie.after_self);
  }

  std::vector<Item> roots() const { return {0}; }
  LabelId label(Item item) const { return trie_.labels[item]; }
  FrameTraits traits(Item item) const { return trie_.traits[item]; }
  std::uint64_t total(Item item) const { return totals_[item]; }
  std::uint64_t self(Item item, std::uint32_t /*depth*/) const { return trie_.self[item]; }
  void visit_next(Item item, const auto& visit) const {
    for (std::uint32_t child = first_child_[item]; child != 0; child = next_sibling_[child]) visit(child);
  }
  CallChange change(Item item, std::uint32_t /*depth*/) const {
    return {before_totals_[item], after_totals_[item], trie_.before_self[item], trie_.after_self[item]};
  }

 private:
  const LabelTrie& trie_;
  std::vector<std::uint64_t> totals_;
  std::vector<std::uint32_t> first_child_;
  std::vector<std::uint32_t> next_sibling_;
  std::vector<std::uint64_t> before_totals_;
  std::vector<std::uint64_t> after_totals_;
};

// Callees above callers.  An item is a walk from a leaf, the innermost frame of samples, towards the root.
class UpwardSource {
 public:
  struct Item {
    std::uint32_t node = 0;
    std::uint32_t leaf = 0;
  };

  explicit UpwardSource(const LabelTrie& trie) : trie_(trie) {
    const std::vector<std::uint32_t> depths = depths_of(trie);
    std::vector<std::uint32_t> lengths;
    for (std::uint32_t i = 0; i < trie.size(); ++i) {
      if (trie.self[i] == 0) continue;
      walks_.push_back({i, i});
      lengths.push_back(depths[i]);
    }
    depth_limit_ = depth_limit(std::move(lengths));
  }

  std::uint32_t depth_limit_reached() const { return depth_limit_; }

  std::vector<Item> roots() const { return {{kNone, kNone}}; }
  LabelId label(Item item) const { return trie_.labels[item.node]; }
  FrameTraits traits(Item item) const { return trie_.traits[item.node]; }
  std::uint64_t total(Item item) const { return trie_.self[item.leaf]; }
  std::uint64_t self(Item item, std::uint32_t depth) const { return ends(item, depth) ? total(item) : 0; }
  void visit_next(Item item, const auto& visit) const {
    if (item.node == kNone) {
      for (const Item walk : walks_) {
        if (walk.node != 0) visit(walk);
      }
    } else {
      const std::uint32_t caller = trie_.parents[item.node];
      if (caller != 0) visit(Item{caller, item.leaf});
    }
  }
  CallChange change(Item item, std::uint32_t depth) const {
    const std::uint64_t before = trie_.before_self[item.leaf];
    const std::uint64_t after = trie_.after_self[item.leaf];
    return ends(item, depth) ? CallChange{before, after, before, after} : CallChange{before, after, 0, 0};
  }

 private:
  bool ends(Item item, std::uint32_t depth) const {
    return trie_.parents[item.node] == 0 || depth >= depth_limit_;
  }

  const LabelTrie& trie_;
  std::vector<Item> walks_;
  std::uint32_t depth_limit_ = kNone;
};

// Grows a tree level by level from the root.  Items of a node that lead to the same label become one child;
// what is below min_total is never looked into, so the cost is that of what will be seen.
template <typename Source>
class TreeGrower {
 public:
  using Item = typename Source::Item;

  TreeGrower(const LabelTrie& trie, const Source& source, std::shared_ptr<const LabelTable> labels,
             std::uint64_t min_total)
      : trie_(trie), source_(source), min_total_(std::max<std::uint64_t>(min_total, 1)) {
    tree_.labels = std::move(labels);
    group_of_label_.resize(tree_.labels->size(), kNone);
  }

  CallTree grow() {
    add_root();
    std::size_t level_begin = 0;
    while (level_begin < tree_.nodes.size()) {
      const std::size_t level_end = tree_.nodes.size();
      items_.swap(next_items_);
      items_begin_.swap(next_items_begin_);
      next_items_.clear();
      next_items_begin_.clear();
      items_begin_.push_back(items_.size());
      for (std::size_t node = level_begin; node < level_end; ++node) {
        add_children(node, items_begin_[node - level_begin], items_begin_[node - level_begin + 1]);
      }
      level_begin = level_end;
    }
    return std::move(tree_);
  }

 private:
  struct Group {
    LabelId label;
    std::uint32_t size = 0;
    std::uint64_t total = 0;
    std::uint64_t self = 0;
    std::uint64_t heaviest = 0;
    FrameTraits traits;
    CallChange change;
    std::size_t next_slot = 0;

    bool is_leaf() const { return self == total; }
  };

  void add_root() {
    CallNode root;
    for (const std::uint64_t self : trie_.self) root.total += self;
    root.self = trie_.self[0];
    tree_.nodes.push_back(root);
    tree_.traits.emplace_back();
    if (trie_.is_comparison()) {
      CallChange change{0, 0, trie_.before_self[0], trie_.after_self[0]};
      for (const std::uint64_t self : trie_.before_self) change.before_total += self;
      for (const std::uint64_t self : trie_.after_self) change.after_total += self;
      tree_.changes.push_back(change);
    }
    next_items_ = source_.roots();
    next_items_begin_ = {0};
  }

  void add_children(std::size_t node, std::size_t begin, std::size_t end) {
    const CallNode parent = tree_.nodes[node];
    if (parent.total - parent.self < min_total_) return;
    collect_groups(parent.depth + 1, begin, end);
    const bool any = std::ranges::any_of(groups_, [this](const Group& g) { return g.total >= min_total_; });
    if (any) place_groups(node);
    for (const Group& group : groups_) group_of_label_[group.label.index()] = kNone;
  }

  void collect_groups(std::uint32_t depth, std::size_t begin, std::size_t end) {
    groups_.clear();
    candidates_.clear();
    for (std::size_t i = begin; i < end; ++i) {
      source_.visit_next(items_[i], [&](Item item) {
        if (source_.total(item) > 0) add_candidate(item, depth);
      });
    }
  }

  void add_candidate(Item item, std::uint32_t depth) {
    const LabelId label = source_.label(item);
    std::uint32_t& index = group_of_label_[label.index()];
    if (index == kNone) {
      index = static_cast<std::uint32_t>(groups_.size());
      groups_.emplace_back().label = label;
    }
    candidates_.push_back({item, index});
    Group& group = groups_[index];
    const std::uint64_t total = source_.total(item);
    ++group.size;
    group.total += total;
    group.self += source_.self(item, depth);
    if (total > group.heaviest) {
      group.heaviest = total;
      group.traits = source_.traits(item);
    }
    if (trie_.is_comparison()) add_change(group.change, source_.change(item, depth));
  }

  void place_groups(std::size_t node) {
    order_.resize(groups_.size());
    for (std::uint32_t i = 0; i < order_.size(); ++i) order_[i] = i;
    std::ranges::sort(
        order_, [this](std::uint32_t a, std::uint32_t b) { return comes_before(groups_[a], groups_[b]); });

    const CallNode parent = tree_.nodes[node];
    std::uint64_t start = parent.start + parent.self;
    tree_.nodes[node].first_child = static_cast<std::uint32_t>(tree_.nodes.size());
    for (const std::uint32_t index : order_) {
      Group& group = groups_[index];
      if (group.total >= min_total_) {
        add_node(group, start, node);
        ++tree_.nodes[node].child_count;
      } else {
        group.next_slot = kNowhere;
      }
      start += group.total;
    }
    for (const auto& [item, index] : candidates_) {
      std::size_t& slot = groups_[index].next_slot;
      if (slot != kNowhere) next_items_[slot++] = item;
    }
  }

  void add_node(Group& group, std::uint64_t start, std::size_t parent) {
    CallNode child;
    child.parent = static_cast<std::uint32_t>(parent);
    child.depth = tree_.nodes[parent].depth + 1;
    child.label = group.label;
    child.start = start;
    child.total = group.total;
    child.self = group.self;
    tree_.nodes.push_back(child);
    tree_.traits.push_back(group.traits);
    if (trie_.is_comparison()) tree_.changes.push_back(group.change);
    group.next_slot = next_items_.size();
    next_items_begin_.push_back(next_items_.size());
    next_items_.resize(next_items_.size() + group.size);
  }

  // The order in which flamegraph.pl draws: that of its sorted input lines, where a name is followed by ';'
  // or, at the end of a stack, by a blank.
  bool comes_before(const Group& a, const Group& b) const {
    const std::string_view left = tree_.labels->text(a.label);
    const std::string_view right = tree_.labels->text(b.label);
    const std::size_t common = std::min(left.size(), right.size());
    if (const int order = left.substr(0, common).compare(right.substr(0, common)); order != 0)
      return order < 0;
    if (left.size() == right.size()) return a.label < b.label;
    const auto byte_at = [](std::string_view text, std::size_t i, const Group& group) {
      if (i < text.size()) return static_cast<unsigned char>(text[i]);
      return static_cast<unsigned char>(group.is_leaf() ? ' ' : ';');
    };
    const unsigned char after_left = byte_at(left, common, a);
    const unsigned char after_right = byte_at(right, common, b);
    return after_left != after_right ? after_left < after_right : left.size() < right.size();
  }

  static constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();

  const LabelTrie& trie_;
  const Source& source_;
  std::uint64_t min_total_;
  CallTree tree_;
  // The items of the level's nodes, side by side, and where each node's begin.
  std::vector<Item> items_;
  std::vector<Item> next_items_;
  std::vector<std::size_t> items_begin_;
  std::vector<std::size_t> next_items_begin_;
  // Of the node at hand.
  std::vector<Group> groups_;
  std::vector<std::pair<Item, std::uint32_t>> candidates_;
  std::vector<std::uint32_t> order_;
  std::vector<std::uint32_t> group_of_label_;
};

// Draws one sample after the other and keeps the boxes of the last one open.
class ChartGrower {
 public:
  ChartGrower(const LabelTrie& merged, std::shared_ptr<const LabelTable> labels, std::uint64_t min_total)
      : trie_(merged), min_total_(std::max<std::uint64_t>(min_total, 1)), depths_(depths_of(merged)) {
    tree_.labels = std::move(labels);
  }

  CallTree grow(const std::vector<TrieSample>& sequence) {
    cut_depth(sequence);
    open_.push_back({0, 0, 0});
    for (const TrieSample& sample : sequence) {
      const std::uint32_t node = cut_[sample.node];
      close_down_to(common_ancestor(open_.back().node, node));
      open_up_to(node);
      open_.back().self += sample.weight;
      now_ += sample.weight;
    }
    close_down_to(0);
    close();
    link_levels();
    return std::move(tree_);
  }

 private:
  struct Box {
    std::uint32_t node = 0;
    std::uint64_t start = 0;
    std::uint64_t self = 0;
  };

  // cut_ leads from every node to itself or to its ancestor at the depth that can be afforded.
  void cut_depth(const std::vector<TrieSample>& sequence) {
    std::vector<std::uint32_t> lengths;
    lengths.reserve(sequence.size());
    for (const TrieSample& sample : sequence) lengths.push_back(depths_[sample.node]);
    const std::uint32_t limit = depth_limit(std::move(lengths));
    cut_.resize(trie_.size());
    for (std::uint32_t i = 0; i < cut_.size(); ++i)
      cut_[i] = depths_[i] <= limit ? i : cut_[trie_.parents[i]];
    if (limit != kNone)
      tree_.diagnostics.warn("stacks too deep for a chart: cut", fmt::format("at depth {}", limit));
  }

  std::uint32_t common_ancestor(std::uint32_t a, std::uint32_t b) const {
    while (a != b) {
      if (a > b) {
        a = trie_.parents[a];
      } else {
        b = trie_.parents[b];
      }
    }
    return a;
  }

  void close_down_to(std::uint32_t ancestor) {
    while (open_.back().node != ancestor) close();
  }

  void close() {
    const Box box = open_.back();
    open_.pop_back();
    const std::uint64_t total = now_ - box.start;
    if (total < min_total_ && box.node != 0) return;
    CallNode node;
    node.depth = depths_[box.node];
    node.label = trie_.labels[box.node];
    node.start = box.start;
    node.total = total;
    node.self = box.self;
    tree_.nodes.push_back(node);
    trie_nodes_.push_back(box.node);
  }

  void open_up_to(std::uint32_t node) {
    const std::size_t before = open_.size();
    for (; node != open_[before - 1].node; node = trie_.parents[node]) open_.push_back({node, now_, 0});
    std::reverse(open_.begin() + static_cast<std::ptrdiff_t>(before), open_.end());
  }

  // Boxes were closed callees first; here they are put in order, level by level, and learn their parents.
  void link_levels() {
    std::vector<std::uint32_t> order(tree_.nodes.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, [this](std::uint32_t a, std::uint32_t b) {
      const CallNode& left = tree_.nodes[a];
      const CallNode& right = tree_.nodes[b];
      return left.depth != right.depth ? left.depth < right.depth : left.start < right.start;
    });
    std::vector<CallNode> nodes;
    nodes.reserve(order.size());
    for (const std::uint32_t i : order) {
      nodes.push_back(tree_.nodes[i]);
      tree_.traits.push_back(trie_.traits[trie_nodes_[i]]);
    }
    tree_.nodes = std::move(nodes);
    std::uint32_t parent = 0;
    for (std::uint32_t i = 1; i < tree_.nodes.size(); ++i) {
      CallNode& node = tree_.nodes[i];
      while (!is_parent(tree_.nodes[parent], node)) ++parent;
      node.parent = parent;
      if (tree_.nodes[parent].child_count++ == 0) tree_.nodes[parent].first_child = i;
    }
  }

  static bool is_parent(const CallNode& parent, const CallNode& node) {
    return parent.depth + 1 == node.depth && node.start < parent.start + parent.total;
  }

  const LabelTrie& trie_;
  std::uint64_t min_total_;
  CallTree tree_;
  std::vector<std::uint32_t> depths_;
  std::vector<std::uint32_t> cut_;
  std::vector<Box> open_;
  std::vector<std::uint32_t> trie_nodes_;  // by closed box
  std::uint64_t now_ = 0;
};

}  // namespace

CallTree grow_tree(const LabelTrie& trie, std::shared_ptr<const LabelTable> labels, std::uint64_t min_total) {
  const DownwardSource source(trie);
  return TreeGrower(trie, source, std::move(labels), min_total).grow();
}

CallTree grow_reversed_tree(const LabelTrie& trie, std::shared_ptr<const LabelTable> labels,
                            std::uint64_t min_total) {
  const UpwardSource source(trie);
  CallTree tree = TreeGrower(trie, source, std::move(labels), min_total).grow();
  tree.reversed = true;
  if (const std::uint32_t limit = source.depth_limit_reached(); limit != kNone) {
    tree.diagnostics.warn("stacks too deep to reverse: cut", fmt::format("at depth {}", limit));
  }
  return tree;
}

CallTree grow_chart(const LabelTrie& merged, const std::vector<TrieSample>& sequence,
                    std::shared_ptr<const LabelTable> labels, std::uint64_t min_total) {
  CallTree tree = ChartGrower(merged, std::move(labels), min_total).grow(sequence);
  tree.time_order = true;
  return tree;
}

}  // namespace nodescope
