#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/heap/heap_analysis.h"
#include "analysis/heap/heap_diff.h"
#include "analysis/heap/reach.h"

namespace nodescope {

// What grows over the snapshots, and who holds it.
struct HeapLeak {
  struct Step {
    std::string name;
    std::string via;  // the reference from the step before; empty for the first
  };

  std::string name;
  std::int64_t count_delta = 0;           // from the first snapshot to the last
  std::int64_t retained_delta_bytes = 0;  // of the class
  std::vector<std::uint64_t> counts;      // of the class in each snapshot
  std::string holder;                     // "Ledger.entries (Map)"
  std::string owners;                     // " ← ledger (app.js)", or empty
  std::vector<Step> path;                 // from a root to one of them
  std::uint32_t heap_class = 0;           // of the newest snapshot
  std::uint32_t holder_node = 0;
  std::uint32_t sample = 0;  // the one that the path leads to
};

// A class that grew, and then did not go on.
struct HeapStep {
  std::string name;
  std::vector<std::uint64_t> counts;
};

struct LeakAnswer {
  std::optional<HeapLeak> leak;
  std::optional<HeapStep> step;  // the largest, where nothing leaks
  std::int64_t bytes_delta = 0;
  std::size_t snapshots = 0;
};

// `older` are the snapshots before `newest`, the first one first, and `diff` compares that one with the
// newest.  A leak is a class of objects that grows from each snapshot to the next, most of it reached through
// one holder.  `reach` is that of the newest.
LeakAnswer find_leak(std::span<const HeapBaseline> older, const HeapDiff& diff, const HeapAnalysis& newest,
                     const Reach& reach);

// Of one snapshot alone: the classes that fill most of the heap and what holds them, as if all of it were
// new.
std::vector<HeapLeak> find_what_fills(const HeapAnalysis& heap, std::size_t most);

// The answer in one sentence.
std::string leak_sentence(const LeakAnswer& answer);

}  // namespace nodescope
