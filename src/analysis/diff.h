#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/call_tree.h"
#include "analysis/label_trie.h"
#include "base/byte_sink.h"
#include "base/result.h"

namespace nodescope {

// How wide a box of the differential flame graph is.
enum class DiffWidth : std::uint8_t {
  kAfter,   // difffolded.pl A B | flamegraph.pl: what vanished has no width
  kBefore,  // the same for the first profile: what is new has no width
  kBoth,    // the sum of both sides: everything is visible
};

struct DiffOptions {
  EventId before_event;
  EventId after_event;
  CountBy count = CountBy::kWeight;
  LabelOptions labels;  // strip_hex is difffolded's -s
  RootBy root = RootBy::kNone;
  bool collapse_recursion = false;
  bool normalise = false;    // -n: scale the first profile to the sum of the second
  bool only_common = false;  // -x: leave out stacks that only one profile has; they are counted in left_out()

  bool operator==(const DiffOptions&) const = default;
};

struct DiffTreeOptions {
  DiffWidth width = DiffWidth::kAfter;
  bool reversed = false;
  // Boxes whose width is below are left out, as in CallTreeOptions.
  std::uint64_t min_total = 0;

  bool operator==(const DiffTreeOptions&) const = default;
};

// A function on both sides.
struct DiffFunction {
  std::string name;
  FrameKind kind = FrameKind::kUnknown;
  std::uint64_t before_self = 0;
  std::uint64_t after_self = 0;
  std::uint64_t before_total = 0;  // recursion counted once
  std::uint64_t after_total = 0;
  // Of own code: what it has with all that it calls, without other own functions and what these call.
  std::uint64_t before_own = 0;
  std::uint64_t after_own = 0;
  Origin origin = Origin::kUnknown;
  bool is_name = false;  // of a process or thread
  LabelParts parts;
  LabelSource source;
  LabelSource before_source;  // where it stood in the first profile, if it was there

  std::int64_t self_change() const { return static_cast<std::int64_t>(after_self - before_self); }
  std::int64_t own_change() const { return static_cast<std::int64_t>(after_own - before_own); }
  std::int64_t total_change() const { return static_cast<std::int64_t>(after_total - before_total); }
  bool vanished() const { return before_total > 0 && after_total == 0; }
  bool appeared() const { return before_total == 0 && after_total > 0; }
  bool operator==(const DiffFunction&) const = default;
};

constexpr std::uint64_t kMaxFoldedBytes = std::uint64_t{1} << 36;

// Stacks that one profile has and the other has not.
struct OneSided {
  std::uint64_t stacks = 0;
  std::uint64_t weight = 0;

  bool operator==(const OneSided&) const = default;
};

// Every distinct stack of two profiles with both counts.
class Diff {
 public:
  std::uint64_t before_total() const { return before_total_; }  // after scaling
  std::uint64_t after_total() const { return after_total_; }
  std::uint64_t before_unscaled() const { return before_unscaled_; }
  const OneSided& vanished() const { return vanished_; }
  const OneSided& appeared() const { return appeared_; }
  const OneSided& left_out() const { return left_out_; }  // by only_common, of both sides
  Unit unit() const { return unit_; }
  const Diagnostics& diagnostics() const { return diagnostics_; }

  // "a;b;c 31 33" lines, sorted: what difffolded.pl prints (its own order is that of a hash and differs with
  // every run). A ';' inside a name is written as ':', a line break as a blank.  Fails with kLimit where that
  // would be more than kMaxFoldedBytes: a chain of n frames, all of them with samples, is n * n / 2 frames of
  // text.
  Result<void> write_folded(ByteSink& sink) const;

  // The sum that the root of a tree of this width has.
  std::uint64_t width_total(DiffWidth width) const;
  // For write_flame_svg.  Its note says what the width leaves invisible.
  CallTree derive_tree(const DiffTreeOptions& options) const;

  // Own functions whose own_change() is largest first, then other code by its change of self; functions
  // without any change are there too.
  std::vector<DiffFunction> derive_functions() const;

 private:
  friend class DiffBuilder;

  std::vector<std::uint64_t> charge_own(const std::vector<std::uint64_t>& self) const;

  std::shared_ptr<LabelTable> labels_;
  std::vector<LabelId> before_names_;  // by label: what it was called in the first profile
  LabelTrie trie_;                     // merged, with before_self and after_self
  std::uint64_t before_total_ = 0;
  std::uint64_t before_unscaled_ = 0;
  std::uint64_t after_total_ = 0;
  OneSided vanished_;
  OneSided appeared_;
  OneSided left_out_;
  Unit unit_ = Unit::kSamples;
  std::string event_;
  Diagnostics diagnostics_;
};

// `before` and `after` may be the same profile with two events: folded text with two counts is read as that.
Diff derive_diff(const Profile& before, const Profile& after, const DiffOptions& options);

}  // namespace nodescope
