#include "page/tree_columns.h"

#include <string>

#include "analysis/cause.h"

namespace nodescope::page {

namespace {

Cause label_cause(const LabelTable& labels, LabelId label) {
  return cause_of(labels[label].kind, labels[label].origin, labels.parts(label).name);
}

}  // namespace

void UsedLabels::write(const Pattern* search, Reply& reply) const {
  json::Writer& json = reply.json();
  json.key("names").begin_array();
  for (const LabelId label : used_) json.string(labels_->parts(label).name);
  json.end_array();
  json.key("places").begin_array();
  for (const LabelId label : used_) json.string(labels_->parts(label).place);
  json.end_array();
  reply.make_column<std::uint8_t>("label_kind", used_.size(),
                                  [&](std::size_t i) { return (*labels_)[used_[i]].kind; });
  reply.make_column<std::uint8_t>("label_origin", used_.size(),
                                  [&](std::size_t i) { return (*labels_)[used_[i]].origin; });
  reply.make_column<std::uint8_t>("label_cause", used_.size(),
                                  [&](std::size_t i) { return label_cause(*labels_, used_[i]); });
  if (search == nullptr) return;
  reply.make_column<std::uint8_t>("label_matched", used_.size(),
                                  [&](std::size_t i) { return search->found_in(labels_->text(used_[i])); });
}

void write_tree(const CallTree& tree, std::string_view prefix, UsedLabels& used, Reply& reply) {
  const std::vector<CallNode>& nodes = tree.nodes;
  const std::size_t count = nodes.size();
  const auto name = [&](std::string_view column) { return std::string(prefix) + std::string(column); };
  reply.make_column<std::uint32_t>(name("parent"), count, [&](std::size_t i) { return nodes[i].parent; });
  reply.make_column<std::uint32_t>(name("depth"), count, [&](std::size_t i) { return nodes[i].depth; });
  reply.make_column<std::uint32_t>(name("label"), count,
                                   [&](std::size_t i) { return used.number(nodes[i].label); });
  reply.make_column<double>(name("start"), count, [&](std::size_t i) { return nodes[i].start; });
  reply.make_column<double>(name("total"), count, [&](std::size_t i) { return nodes[i].total; });
  reply.make_column<double>(name("self"), count, [&](std::size_t i) { return nodes[i].self; });
  reply.make_column<std::uint8_t>(name("tier"), count, [&](std::size_t i) { return tree.traits[i].tier; });
  reply.make_column<std::uint8_t>(name("inlined"), count,
                                  [&](std::size_t i) { return tree.traits[i].inlined; });
  if (!tree.reversed) {
    std::vector<std::uint8_t> causes(count, static_cast<std::uint8_t>(Cause::kOther));
    // The root of a sandwich is a function, that of other trees nothing.
    if (count > 0 && nodes[0].label != LabelId{}) {
      causes[0] = static_cast<std::uint8_t>(label_cause(*tree.labels, nodes[0].label));
    }
    for (std::size_t i = 1; i < count; ++i) {
      const auto caller = static_cast<Cause>(causes[nodes[i].parent]);
      causes[i] = static_cast<std::uint8_t>(cause_below(caller, label_cause(*tree.labels, nodes[i].label)));
    }
    reply.column(name("cause"), causes);
  }
  if (!tree.is_comparison()) return;
  const std::vector<CallChange>& changes = tree.changes;
  reply.make_column<double>(name("before_total"), count,
                            [&](std::size_t i) { return changes[i].before_total; });
  reply.make_column<double>(name("after_total"), count,
                            [&](std::size_t i) { return changes[i].after_total; });
  reply.make_column<double>(name("before_self"), count,
                            [&](std::size_t i) { return changes[i].before_self; });
  reply.make_column<double>(name("after_self"), count, [&](std::size_t i) { return changes[i].after_self; });
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
