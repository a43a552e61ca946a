#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/flat_map.h"
#include "model/stack.h"

namespace nodescope {

enum class CollectionKind : std::uint8_t { kUnknown, kScavenge, kMarkCompact, kIncrementalStep };
inline constexpr std::size_t kCollectionKinds = 4;
// "scavenge", "mark-compact", "incremental step"; "collection" where it is not known.
std::string_view to_string(CollectionKind kind);

// V8's GarbageCollectionReason by its number, which never changes: "allocation limit".  Empty: not known.
std::string_view collection_reason(std::uint64_t number);

// A pause of JavaScript for V8's collector.
struct Collection {
  pid_t pid = 0;
  pid_t tid = 0;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  CollectionKind kind = CollectionKind::kUnknown;
  std::uint64_t reason = 0;
  StackId stack = kEmptyStack;  // of what made it begin; empty: not known

  std::uint64_t duration_ns() const { return end_ns - begin_ns; }
  bool operator==(const Collection&) const = default;
};

// Makes pauses of what threads enter and leave.
class CollectionTracker {
 public:
  enum class Point : std::uint8_t {
    kBegin,        // Heap::CollectGarbage
    kEnd,          // it returns
    kScavenge,     // Heap::Scavenge, within
    kMarkCompact,  // Heap::MarkCompact, within
    kStepBegin,    // IncrementalMarking::Step
    kStepEnd,
  };

  explicit CollectionTracker(pid_t pid) : pid_(pid) {}

  // By time within a thread.  `reason` and `stack` count at the beginning.
  void add(pid_t tid, Point point, std::uint64_t time_ns, std::uint64_t reason, StackId stack = kEmptyStack);
  std::vector<Collection> take();

 private:
  struct Open {
    Collection collection;
    std::uint32_t depth = 0;  // a callback of a collection may start another
    std::uint64_t step_begin_ns = 0;
  };

  pid_t pid_;
  FlatMap<std::uint32_t, Open> open_;  // by tid
  std::vector<Collection> done_;
};

}  // namespace nodescope
