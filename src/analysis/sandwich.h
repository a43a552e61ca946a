#pragma once

#include <cstdint>

#include "analysis/call_tree.h"
#include "analysis/labels.h"

namespace nodescope {

// One function between those that call it and those that it calls.
struct Sandwich {
  std::uint64_t total = 0;  // samples that have the function anywhere, each counted once
  std::uint64_t self = 0;
  Unit unit = Unit::kSamples;
  // Both have the function as their root, and `total` as its total.  Callees are those below its outermost
  // call; callers those above its innermost, so that recursion shows as a function that calls itself.
  CallTree callers;
  CallTree callees;
};

struct SandwichOptions {
  EventId event;
  CountBy count = CountBy::kWeight;
  LabelOptions labels;
  double min = 0;  // of the total: smaller boxes are left out
};

// Of the function that has both of these parts; empty trees if there is none.
Sandwich derive_sandwich(const Profile& profile, const LabelParts& function, const SandwichOptions& options);

}  // namespace nodescope
