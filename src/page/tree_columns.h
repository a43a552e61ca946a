#pragma once

#include <optional>
#include <vector>

#include "analysis/call_tree.h"
#include "base/pattern.h"
#include "model/profile.h"
#include "page/replies.h"

namespace nodescope::page {

// Which of a table's labels a tree uses, numbered anew from 0 in the order of their first node.
class UsedLabels {
 public:
  explicit UsedLabels(const LabelTable& labels) : labels_(&labels), number_of_(labels.size(), kNone) {}

  std::uint32_t number(LabelId label) {
    std::uint32_t& number = number_of_[label.index()];
    if (number == kNone) {
      number = static_cast<std::uint32_t>(used_.size());
      used_.push_back(label);
    }
    return number;
  }

  LabelColumns columns(const Pattern* search) const;

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  const LabelTable* labels_;
  std::vector<std::uint32_t> number_of_;
  std::vector<LabelId> used_;
};

TreeColumns tree_columns(const CallTree& tree, UsedLabels& used);

// What has a label that `search` finds anywhere on its stack, nothing counted twice.
std::uint64_t matched_total(const CallTree& tree, const Pattern& search);

}  // namespace nodescope::page
