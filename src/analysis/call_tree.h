#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/labels.h"
#include "base/diagnostics.h"
#include "model/profile.h"

namespace nodescope {

// What a sample counts: its weight in the event's unit, or one.  Where the unit is samples (folded stacks),
// both are the weight.
enum class CountBy : std::uint8_t { kWeight, kSamples };

// A first frame above every stack; none for a sample whose process or thread has no name and no number.
enum class RootBy : std::uint8_t {
  kNone,
  kThreadName,  // "node", as stackcollapse-perf.pl does (perf calls it comm)
  kProcess,     // "node-4711", its --pid
  kThread,      // "node-4711/4712", its --tid
};

struct CallTreeOptions {
  EventId event;
  CountBy count = CountBy::kWeight;
  LabelOptions labels;
  RootBy root = RootBy::kNone;
  bool reversed = false;            // callers above callees: who called this?
  bool collapse_recursion = false;  // a;f;f;f;b -> a;f;b
  bool time_order = false;          // a flame chart: left to right is time, and only neighbours merge
  // Boxes below this are left out together with all above them; their weight stays in their caller's total.
  std::uint64_t min_total = 0;

  bool operator==(const CallTreeOptions&) const = default;
};

// Children of a node are neighbours, sorted by name (in a chart by time).  A parent's index is smaller than
// its children's.
struct CallNode {
  std::uint32_t parent = 0;
  std::uint32_t first_child = 0;
  std::uint32_t child_count = 0;
  std::uint32_t depth = 0;  // the root is 0
  LabelId label;
  std::uint64_t start = 0;  // where its box begins; self weight lies before the children
  std::uint64_t total = 0;
  std::uint64_t self = 0;  // without what `min_total` left out

  bool operator==(const CallNode&) const = default;
};

// Both sides of a comparison, by node.
struct CallChange {
  std::uint64_t before_total = 0;
  std::uint64_t after_total = 0;
  std::uint64_t before_self = 0;
  std::uint64_t after_self = 0;

  bool operator==(const CallChange&) const = default;
};

struct CallTree {
  std::shared_ptr<const LabelTable> labels;
  std::vector<CallNode> nodes;      // level by level; nodes[0] is the root, "all"
  std::vector<FrameTraits> traits;  // by node: of the frame that has most of its weight
  std::vector<CallChange> changes;  // by node; empty unless it is a comparison
  Unit unit = Unit::kSamples;
  std::string event;
  bool reversed = false;
  bool time_order = false;
  bool shows_both_sides = false;          // of a comparison: a box is as wide as both sides together
  std::uint64_t largest_self_change = 0;  // of a comparison: in any stack
  std::string note;                       // one line for under the drawing
  Diagnostics diagnostics;                // what had to be cut

  std::uint64_t total() const { return nodes.empty() ? 0 : nodes[0].total; }
  std::uint32_t depth() const { return nodes.empty() ? 0 : nodes.back().depth; }
  std::string_view text(const CallNode& node) const { return labels->text(node.label); }
  bool is_comparison() const { return !changes.empty(); }
};

CallTree derive_call_tree(const Profile& profile, const CallTreeOptions& options);

// The sum that derive_call_tree's root has, without building the tree.
std::uint64_t derive_total(const Profile& profile, EventId event, CountBy count);

}  // namespace nodescope
