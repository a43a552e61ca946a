#pragma once

#include <array>
#include <atomic>
#include <limits>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "formats/heapsnapshot/integers.h"
#include "formats/heapsnapshot/meta.h"
#include "model/heap_graph.h"

namespace nodescope {

// The first row of which something cannot be true, whichever thread finds it.
class FirstBadRow {
 public:
  static constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

  void note(std::uint64_t row) {
    std::uint64_t known = row_;
    while (row < known && !row_.compare_exchange_weak(known, row)) {
    }
  }
  std::uint64_t row() const { return row_; }

 private:
  std::atomic<std::uint64_t> row_ = kNone;
};

// Puts the numbers of "nodes" into the columns of a graph, which have the size that the header says.
class NodeColumns final : public IntegerSink {
 public:
  NodeColumns(const SnapshotMeta& meta, HeapGraph& graph);

  void store(std::uint64_t first, std::span<const std::uint64_t> values) override;
  // When all were stored: settles what the threads could not, and the ranges of the edges.
  Result<void> finish(std::uint64_t value_count);

 private:
  enum class Field : std::uint8_t { kType, kName, kId, kSelfSize, kEdgeCount, kTraceNode, kDomState, kOther };
  struct Late {
    Field field;
    std::uint64_t row;
    std::uint64_t value;
  };

  static Field field_of(std::string_view name);
  void store_field(Field field, std::uint64_t row, std::span<const std::uint64_t> values, std::size_t stride);
  void store_types(std::uint64_t row, std::span<const std::uint64_t> values, std::size_t stride);
  void keep_for_later(Field field, std::uint64_t row, std::uint64_t value);

  HeapGraph& graph_;
  std::vector<Field> fields_;
  std::array<std::uint8_t, HeapGraph::kMaxTypes> types_{};
  std::size_t type_count_ = 0;
  FirstBadRow bad_;
  std::mutex mutex_;
  std::vector<Late> late_;
};

// The same for "edges", when the nodes are there.
class EdgeColumns final : public IntegerSink {
 public:
  EdgeColumns(const SnapshotMeta& meta, HeapGraph& graph);

  void store(std::uint64_t first, std::span<const std::uint64_t> values) override;
  Result<void> finish(std::uint64_t value_count);

 private:
  enum class Field : std::uint8_t { kType, kName, kTarget, kOther };

  void store_types(std::uint64_t row, std::span<const std::uint64_t> values, std::size_t stride);
  void store_names(std::uint64_t row, std::span<const std::uint64_t> values, std::size_t stride);
  template <std::uint32_t kFields>
  void store_targets(std::uint64_t row, std::span<const std::uint64_t> values, std::size_t stride);

  HeapGraph& graph_;
  std::vector<Field> fields_;
  std::uint32_t node_fields_;
  std::array<std::uint8_t, HeapGraph::kMaxTypes> types_{};
  std::size_t type_count_ = 0;
  FirstBadRow bad_;
};

// An index of the flat array of nodes as the number of the node; kNone when there is none.  V8 computes it in
// 32 bits with a sign.
constexpr std::uint32_t node_of_index(std::uint64_t index, std::uint64_t fields, std::uint64_t nodes) {
  if (index >> 63 != 0) index = static_cast<std::uint32_t>(index);
  const std::uint64_t node = index / fields;
  return index % fields == 0 && node < nodes ? static_cast<std::uint32_t>(node) : HeapGraph::kNone;
}

}  // namespace nodescope
