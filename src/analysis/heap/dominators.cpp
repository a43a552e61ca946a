#include "analysis/heap/dominators.h"

#include <utility>
#include <vector>

#include "analysis/heap/shallow_sizes.h"

namespace nodescope {

namespace {

constexpr std::uint32_t kNone = HeapGraph::kNone;

// Semi-NCA (Georgiadis, Tarjan): numbers are those of a depth-first search, 0 is the root.
class Dominators {
 public:
  Dominators(const HeapGraph& graph, const Bits& essential) : graph_(graph), essential_(essential) {}

  Column<std::uint32_t> derive() {
    find_orphans();
    search();
    collect_predecessors();
    find_semidominators();
    return by_node();
  }

 private:
  struct Step {
    std::uint32_t number;
    std::uint32_t next;  // the edge to follow next
    std::uint32_t end;
  };

  // Nodes without an essential edge into them are taken for children of the root.
  void find_orphans() {
    Bits referred(graph_.node_count());
    for (std::size_t edge = 0; edge < graph_.edge_count(); ++edge) {
      if (essential_[edge]) referred.set(graph_.edge_targets[edge]);
    }
    for (std::uint32_t node = 0; node < graph_.node_count(); ++node) {
      if (!referred[node] && node != graph_.root) orphans_.push_back(node);
    }
  }

  // Numbers what the root reaches in the order of a depth-first search, with each one's parent, and counts
  // the edges into each.
  void search() {
    numbers_.assign(graph_.node_count(), kNone);
    incoming_.assign(graph_.node_count() + 1, 0);
    std::vector<Step> path;
    const auto enter = [&](std::uint32_t node, std::uint32_t parent) {
      const auto number = static_cast<std::uint32_t>(nodes_.size());
      numbers_[node] = number;
      nodes_.push_back(node);
      parents_.push_back(parent);
      path.push_back({number, graph_.edge_begins[node], graph_.edge_begins[node + 1]});
    };
    nodes_.reserve(graph_.node_count());
    parents_.reserve(graph_.node_count());
    enter(graph_.root, 0);
    std::size_t next_orphan = 0;
    while (!path.empty()) {
      Step& step = path.back();
      if (step.next == step.end) {
        if (path.size() == 1 && next_orphan < orphans_.size()) {
          enter(orphans_[next_orphan++], 0);
        } else {
          path.pop_back();
        }
        continue;
      }
      const std::uint32_t edge = step.next++;
      if (!essential_[edge]) continue;
      const std::uint32_t target = graph_.edge_targets[edge];
      const std::uint32_t from = step.number;
      if (numbers_[target] == kNone) enter(target, from);
      ++incoming_[numbers_[target]];
    }
  }

  // By number: the numbers of those that refer to it.
  void collect_predecessors() {
    // incoming_[n] becomes the end of n's part, and falls to its begin as the part is filled.
    std::uint32_t sum = 0;
    for (std::uint32_t& count : incoming_) count = sum += count;
    predecessors_.resize(sum);
    for (std::uint32_t number = 0; number < nodes_.size(); ++number) {
      const std::uint32_t node = nodes_[number];
      for (std::size_t edge = graph_.edge_begins[node]; edge < graph_.edge_begins[node + 1]; ++edge) {
        if (essential_[edge]) predecessors_[--incoming_[numbers_[graph_.edge_targets[edge]]]] = number;
      }
    }
    numbers_ = {};
  }

  // The smallest semidominator on the path from `number` up to, but without, what is not linked yet.
  std::uint32_t evaluate(std::uint32_t number, std::uint32_t last_linked) {
    if (number < last_linked) return labels_[number];
    // Those above whose ancestor is linked too, from the bottom.
    path_.clear();
    for (std::uint32_t v = number; ancestors_[v] >= last_linked; v = ancestors_[v]) path_.push_back(v);
    for (std::size_t i = path_.size(); i-- > 0;) {
      const std::uint32_t v = path_[i];
      const std::uint32_t above = ancestors_[v];
      if (labels_[above] < labels_[v]) labels_[v] = labels_[above];
      ancestors_[v] = ancestors_[above];
    }
    return labels_[number];
  }

  void find_semidominators() {
    const auto count = static_cast<std::uint32_t>(nodes_.size());
    ancestors_ = parents_;
    labels_.resize(count);
    semis_.resize(count);
    for (std::uint32_t i = 0; i < count; ++i) labels_[i] = i;
    for (std::uint32_t w = count - 1; w > 0 && w < count; --w) {
      std::uint32_t semi = parents_[w];
      for (std::uint32_t i = incoming_[w]; i < incoming_[w + 1]; ++i) {
        // Those before w are themselves: they are not linked yet.
        const std::uint32_t candidate = evaluate(predecessors_[i], w + 1);
        if (candidate < semi) semi = candidate;
      }
      labels_[w] = semi;
      semis_[w] = semi;
    }
    predecessors_ = {};
    incoming_ = {};
    labels_ = {};
    ancestors_ = {};
    // parents_ becomes the dominators.
    for (std::uint32_t w = 1; w < count; ++w) {
      std::uint32_t dominator = parents_[w];
      while (dominator > semis_[w]) dominator = parents_[dominator];
      parents_[w] = dominator;
    }
    semis_ = {};
  }

  Column<std::uint32_t> by_node() const {
    Column<std::uint32_t> dominators;
    dominators.assign(graph_.node_count(), graph_.root);
    for (std::size_t i = 0; i < nodes_.size(); ++i) dominators[nodes_[i]] = nodes_[parents_[i]];
    return dominators;
  }

  const HeapGraph& graph_;
  const Bits& essential_;
  std::vector<std::uint32_t> orphans_;
  Column<std::uint32_t> numbers_;  // by node
  Column<std::uint32_t> nodes_;    // the rest by number
  Column<std::uint32_t> parents_;
  Column<std::uint32_t> incoming_;
  Column<std::uint32_t> predecessors_;
  Column<std::uint32_t> ancestors_;
  Column<std::uint32_t> labels_;
  Column<std::uint32_t> semis_;
  std::vector<std::uint32_t> path_;
};

}  // namespace

Bits find_essential_edges(const HeapGraph& graph, const EphemeronNames& ephemerons) {
  const Bits page_owned = find_page_owned(graph);
  Bits essential(graph.edge_count());
  for (std::uint32_t node = 0; node < graph.node_count(); ++node) {
    const bool outside = node != graph.root && !page_owned[node];
    for (std::size_t edge = graph.edge_begins[node]; edge < graph.edge_begins[node + 1]; ++edge) {
      const HeapEdgeType type = graph.edge_type(edge);
      const std::uint32_t target = graph.edge_targets[edge];
      if (type == HeapEdgeType::kWeak || target == node) continue;
      if (node != graph.root && type == HeapEdgeType::kShortcut) continue;
      if (outside && page_owned[target]) continue;
      const Ephemeron* ephemeron = ephemerons.find(edge);
      if (ephemeron != nullptr && ephemeron->table_id == graph.ids[node]) continue;
      essential.set(edge);
    }
  }
  return essential;
}

Column<std::uint32_t> derive_dominators(const HeapGraph& graph, const Bits& essential) {
  return Dominators(graph, essential).derive();
}

DominatorTree::DominatorTree(const Column<std::uint32_t>& dominators, std::uint32_t root) : root_(root) {
  begins_.assign(dominators.size() + 1, 0);
  children_.resize(dominators.size() - 1);
  for (std::uint32_t node = 0; node < dominators.size(); ++node) {
    if (node != root) ++begins_[dominators[node]];
  }
  std::uint32_t sum = 0;
  for (std::uint32_t& begin : begins_) begin = sum += begin;
  for (auto node = static_cast<std::uint32_t>(dominators.size()); node-- > 0;) {
    if (node != root) children_[--begins_[dominators[node]]] = node;
  }
}

WideColumn derive_retained_sizes(const Column<std::uint32_t>& dominators, const DominatorTree& tree,
                                 const WideColumn& shallow_sizes) {
  WideColumn retained = shallow_sizes;
  // Downwards level by level, then everything is added to its dominator in the opposite order.
  Column<std::uint32_t> order;
  order.reserve(dominators.size());
  order.push_back(tree.root());
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const std::uint32_t child : tree.children(order[i])) order.push_back(child);
  }
  for (std::size_t i = order.size(); i-- > 1;) {
    const std::uint32_t dominator = dominators[order[i]];
    retained.set(dominator, retained[dominator] + retained[order[i]]);
  }
  return retained;
}

}  // namespace nodescope
