#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/heap/heap_analysis.h"
#include "base/flat_map.h"

namespace nodescope {

// What is kept of an older snapshot when its graph is gone: every object that counts, by id, and sums by
// class.
class HeapBaseline {
 public:
  // Classes are those of the newest snapshot's interfaces, as DevTools compares.
  HeapBaseline(const HeapAnalysis& older, const std::vector<HeapInterface>& interfaces);

  struct Object {
    std::uint32_t class_index = 0;  // of keys()
    std::uint64_t bytes = 0;        // 0: it belongs to another object and does not count
  };
  struct Sum {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    std::uint64_t retained_bytes = 0;
  };

  const std::vector<std::string>& keys() const { return keys_; }
  const std::vector<std::string>& class_names() const { return class_names_; }
  const std::vector<Sum>& sums() const { return sums_; }
  const FlatMap<std::uint64_t, Object>& objects() const { return objects_; }  // by id, all there were
  std::uint64_t total_bytes() const { return total_bytes_; }

 private:
  std::vector<std::string> keys_;
  std::vector<std::string> class_names_;
  std::vector<Sum> sums_;
  FlatMap<std::uint64_t, Object> objects_;
  std::uint64_t total_bytes_ = 0;
};

// A row of DevTools' Comparison: by id, what is new in a class and what is gone from it.
struct HeapDiffRow {
  std::string key;
  std::string name;
  std::uint64_t added = 0;
  std::uint64_t removed = 0;
  std::uint64_t added_bytes = 0;
  std::uint64_t removed_bytes = 0;
  std::int64_t retained_delta_bytes = 0;  // of the whole class

  std::int64_t count_delta() const { return static_cast<std::int64_t>(added - removed); }
  std::int64_t bytes_delta() const { return static_cast<std::int64_t>(added_bytes - removed_bytes); }
};

struct HeapDiff {
  std::vector<HeapDiffRow> rows;            // of every class that one of them has
  std::vector<std::uint32_t> row_of_class;  // of the newer snapshot's classes
  std::int64_t bytes_delta = 0;
};
HeapDiff derive_heap_diff(const HeapBaseline& older, const HeapAnalysis& newer);

// The rows that DevTools shows, of classes with something new or gone; largest growth first.
std::vector<const HeapDiffRow*> shown_rows(const HeapDiff& diff);

}  // namespace nodescope
