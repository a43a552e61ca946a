#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/heap/heap_analysis.h"
#include "analysis/heap/heap_diff.h"

namespace nodescope {

enum class HeapTrend : std::uint8_t { kSteady, kStep, kNoise };

// Of a number in each snapshot.
HeapTrend trend_of(std::span<const std::uint64_t> values);

// Which word a leak is named by, best first.
enum class HeapClassKind : std::uint8_t {
  kOwn,      // a class of the program or of its packages
  kLibrary,  // of Node.js itself
  kBuiltin,  // Object, Array, functions
  kText,     // strings, numbers
  kNever,    // V8's own
};

// How the classes of the newest snapshot grew.
class ClassGrowth {
 public:
  struct Entry {
    HeapClassKind kind = HeapClassKind::kNever;
    bool grows = false;                 // from each snapshot to the next
    std::vector<std::uint64_t> counts;  // in each snapshot; empty where it did not grow
  };

  ClassGrowth(std::span<const HeapBaseline> older, const HeapDiff& diff, const HeapAnalysis& newest);

  std::size_t size() const { return entries_.size(); }
  const Entry& operator[](std::size_t heap_class) const { return entries_[heap_class]; }
  const HeapDiffRow& row(std::uint32_t heap_class) const {
    return diff_.rows[diff_.row_of_class[heap_class]];
  }
  // So many more are a leak rather than noise.
  std::int64_t least_count(std::uint32_t heap_class) const;
  bool is_leak(std::uint32_t heap_class) const;
  bool is_new(std::uint32_t node) const {
    return !older_.front().objects().contains(heap_.graph().ids[node]);
  }

 private:
  std::uint64_t count_in(const HeapBaseline& older, const std::string& key) const;

  std::span<const HeapBaseline> older_;
  const HeapDiff& diff_;
  const HeapAnalysis& heap_;
  std::vector<Entry> entries_;
};

}  // namespace nodescope
