#include "capture/collections.h"

#include <array>
#include <utility>

namespace nodescope {

std::string_view to_string(CollectionKind kind) {
  constexpr std::array<std::string_view, kCollectionKinds> kNames = {"collection", "scavenge", "mark-compact",
                                                                     "incremental step"};
  return kNames[static_cast<std::size_t>(kind)];
}

// src/common/globals.h, where V8 says that the numbers are kept in logs and never reused.
std::string_view collection_reason(std::uint64_t number) {
  constexpr auto kNames = std::to_array<std::string_view>({
      "",
      "allocation failure",
      "allocation limit",
      "context disposal",
      "counters extension",
      "debugger",
      "deserializer",
      "external memory pressure",
      "finalize marking via stack guard",
      "finalize marking via task",
      "full hash table",
      "heap profiler",
      "task",
      "last resort",
      "low memory notification",
      "make heap iterable",
      "memory pressure",
      "memory reducer",
      "runtime",
      "sampling profiler",
      "snapshot creator",
      "testing",
      "external finalize",
      "global allocation limit",
      "measure memory",
      "background allocation failure",
      "finalize concurrent minor mark-sweep",
      "cpp heap allocation failure",
  });
  return number < kNames.size() ? kNames[number] : std::string_view();
}

void CollectionTracker::add(pid_t tid, Point point, std::uint64_t time_ns, std::uint64_t reason,
                            StackId stack) {
  Open& open = open_[static_cast<std::uint32_t>(tid)];
  Collection& current = open.collection;
  switch (point) {
    case Point::kBegin:
      if (open.depth++ == 0) current = {pid_, tid, time_ns, time_ns, CollectionKind::kUnknown, reason, stack};
      break;
    case Point::kEnd:
      if (open.depth == 0) break;  // it began before we looked
      if (--open.depth == 0 && time_ns >= current.begin_ns) {
        current.end_ns = time_ns;
        done_.push_back(current);
      }
      break;
    case Point::kScavenge:
      if (current.kind == CollectionKind::kUnknown) current.kind = CollectionKind::kScavenge;
      break;
    case Point::kMarkCompact:
      current.kind = CollectionKind::kMarkCompact;
      break;
    case Point::kStepBegin:
      open.step_begin_ns = time_ns;
      break;
    case Point::kStepEnd:
      // A step within a collection is part of that.
      if (open.step_begin_ns != 0 && open.depth == 0 && time_ns >= open.step_begin_ns)
        done_.push_back({pid_, tid, open.step_begin_ns, time_ns, CollectionKind::kIncrementalStep, 0});
      open.step_begin_ns = 0;
      break;
  }
}

std::vector<Collection> CollectionTracker::take() {
  return std::exchange(done_, {});
}

}  // namespace nodescope
