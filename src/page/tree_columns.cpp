#include "page/tree_columns.h"

#include <string>

#include "analysis/cause.h"
#include "page/reply.h"

namespace nodescope::page {

namespace {

Cause label_cause(const LabelTable& labels, LabelId label) {
  return cause_of(labels[label].kind, labels[label].origin, labels.parts(label).name);
}

}  // namespace

LabelColumns UsedLabels::columns(const Pattern* search) const {
  LabelColumns columns;
  const std::size_t count = used_.size();
  for (const LabelId label : used_) {
    columns.names.push_back(labels_->parts(label).name);
    columns.places.push_back(labels_->parts(label).place);
  }
  columns.kind = make_column<FrameKind>(count, [&](std::size_t i) { return (*labels_)[used_[i]].kind; });
  columns.origin = make_column<Origin>(count, [&](std::size_t i) { return (*labels_)[used_[i]].origin; });
  columns.cause = make_column<Cause>(count, [&](std::size_t i) { return label_cause(*labels_, used_[i]); });
  if (search != nullptr) {
    columns.matched = make_column<std::uint8_t>(
        count, [&](std::size_t i) { return search->found_in(labels_->text(used_[i])); });
  }
  return columns;
}

TreeColumns tree_columns(const CallTree& tree, UsedLabels& used) {
  const std::vector<CallNode>& nodes = tree.nodes;
  const std::size_t count = nodes.size();
  TreeColumns columns;
  columns.parent = make_column<std::uint32_t>(count, [&](std::size_t i) { return nodes[i].parent; });
  columns.depth = make_column<std::uint32_t>(count, [&](std::size_t i) { return nodes[i].depth; });
  columns.label =
      make_column<std::uint32_t>(count, [&](std::size_t i) { return used.number(nodes[i].label); });
  columns.start = make_column<double>(count, [&](std::size_t i) { return nodes[i].start; });
  columns.total = make_column<double>(count, [&](std::size_t i) { return nodes[i].total; });
  columns.self = make_column<double>(count, [&](std::size_t i) { return nodes[i].self; });
  columns.tier = make_column<JsTier>(count, [&](std::size_t i) { return tree.traits[i].tier; });
  columns.inlined = make_column<std::uint8_t>(count, [&](std::size_t i) { return tree.traits[i].inlined; });
  if (!tree.is_comparison()) return columns;
  const std::vector<CallChange>& changes = tree.changes;
  columns.before_total = make_column<double>(count, [&](std::size_t i) { return changes[i].before_total; });
  columns.after_total = make_column<double>(count, [&](std::size_t i) { return changes[i].after_total; });
  return columns;
}

std::uint64_t matched_total(const CallTree& tree, const Pattern& search) {
  enum class Verdict : std::uint8_t { kUnknown, kNo, kYes };
  std::vector<Verdict> by_label(tree.labels->size());
  std::vector<bool> covered(tree.nodes.size());
  std::uint64_t sum = 0;
  for (std::size_t i = 1; i < tree.nodes.size(); ++i) {
    const CallNode& node = tree.nodes[i];
    covered[i] = covered[node.parent];
    if (covered[i]) continue;
    Verdict& verdict = by_label[node.label.index()];
    if (verdict == Verdict::kUnknown) {
      verdict = search.found_in(tree.labels->text(node.label)) ? Verdict::kYes : Verdict::kNo;
    }
    if (verdict == Verdict::kNo) continue;
    covered[i] = true;
    sum += node.total;
  }
  return sum;
}

}  // namespace nodescope::page
