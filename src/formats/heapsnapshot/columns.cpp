#include "formats/heapsnapshot/columns.h"

#include <fmt/format.h>

#include <algorithm>

namespace nodescope {

namespace {

constexpr std::uint64_t kMaxUint32 = std::numeric_limits<std::uint32_t>::max();

// Calls `store(field, row, values)` for each field of the records that `values` are a part of: its values
// begin at values[0] and lie `fields.size()` apart.
template <typename Field, typename Store>
void for_each_field(const std::vector<Field>& fields, std::uint64_t first,
                    std::span<const std::uint64_t> values, Store&& store) {
  const std::size_t count = fields.size();
  for (std::size_t i = 0; i < std::min(count, values.size()); ++i) {
    const std::uint64_t position = first + i;
    store(fields[position % count], position / count, values.subspan(i));
  }
}

// How many rows of `size` are to be filled from `row` on with values that lie `stride` apart.  What the
// header has not announced is left out here and reported at the end.
std::size_t rows_in(std::size_t values, std::size_t stride, std::uint64_t row, std::size_t size) {
  const std::uint64_t room = row < size ? size - row : 0;
  return static_cast<std::size_t>(std::min<std::uint64_t>((values + stride - 1) / stride, room));
}

}  // namespace

NodeColumns::NodeColumns(const SnapshotMeta& meta, HeapGraph& graph) : graph_(graph) {
  for (const std::string& name : meta.node_fields) fields_.push_back(field_of(name));
  graph.has_dom_states = std::ranges::find(fields_, Field::kDomState) != fields_.end();
  type_count_ = std::min(meta.node_types.size(), types_.size());
  for (std::size_t i = 0; i < type_count_; ++i) {
    auto& names = graph.node_type_names;
    const auto known = std::ranges::find(names, meta.node_types[i]);
    types_[i] = static_cast<std::uint8_t>(known - names.begin());
    if (known != names.end()) continue;
    if (names.size() < HeapGraph::kMaxTypes) {
      names.push_back(meta.node_types[i]);
    } else {
      type_count_ = i;
    }
  }
  const auto count = static_cast<std::size_t>(meta.node_count);
  graph.types.resize(count);
  graph.names.resize(count);
  graph.ids.resize(count);
  graph.self_sizes.resize(count);
  graph.edge_begins.resize(count + 1);
  if (std::ranges::find(fields_, Field::kTraceNode) != fields_.end()) graph.trace_nodes.resize(count);
}

NodeColumns::Field NodeColumns::field_of(std::string_view name) {
  if (name == "type") return Field::kType;
  if (name == "name") return Field::kName;
  if (name == "id") return Field::kId;
  if (name == "self_size") return Field::kSelfSize;
  if (name == "edge_count") return Field::kEdgeCount;
  if (name == "trace_node_id") return Field::kTraceNode;
  return name == "detachedness" ? Field::kDomState : Field::kOther;
}

void NodeColumns::store(std::uint64_t first, std::span<const std::uint64_t> values) {
  for_each_field(fields_, first, values, [&](Field field, std::uint64_t row, auto rest) {
    store_field(field, row, rest, fields_.size());
  });
}

void NodeColumns::store_types(std::uint64_t row, std::span<const std::uint64_t> values, std::size_t stride) {
  const std::size_t rows = rows_in(values.size(), stride, row, graph_.node_count());
  for (std::size_t i = 0; i < rows; ++i) {
    const std::uint64_t type = values[i * stride];
    if (type >= type_count_) bad_.note(row + i);
    graph_.types[row + i] = types_[type & HeapGraph::kTypeMask];
  }
}

void NodeColumns::keep_for_later(Field field, std::uint64_t row, std::uint64_t value) {
  const std::scoped_lock lock(mutex_);
  late_.push_back({field, row, value});
}

void NodeColumns::store_field(Field field, std::uint64_t row, std::span<const std::uint64_t> values,
                              std::size_t stride) {
  const std::size_t rows = rows_in(values.size(), stride, row, graph_.node_count());
  const auto fill = [&](std::uint32_t* column, bool may_be_wide) {
    for (std::size_t i = 0; i < rows; ++i) {
      const std::uint64_t value = values[i * stride];
      column[row + i] = static_cast<std::uint32_t>(value);
      if (value <= kMaxUint32) continue;
      if (may_be_wide && value >> 63 == 0) {
        keep_for_later(field, row + i, value);
      } else {
        bad_.note(row + i);
      }
    }
  };
  switch (field) {
    case Field::kType:
      return store_types(row, values, stride);
    case Field::kName:
      return fill(graph_.names.data(), false);
    case Field::kId:
      return fill(graph_.ids.low().data(), true);
    case Field::kSelfSize:
      return fill(graph_.self_sizes.low().data(), true);
    case Field::kEdgeCount:
      return fill(graph_.edge_begins.data() + 1, false);
    case Field::kTraceNode:
      return fill(graph_.trace_nodes.data(), false);
    case Field::kDomState:
      for (std::size_t i = 0; i < rows; ++i) {
        if ((values[i * stride] & 3u) != 0) keep_for_later(field, row + i, values[i * stride] & 3u);
      }
      return;
    case Field::kOther:
      return;
  }
}

Result<void> NodeColumns::finish(std::uint64_t value_count) {
  const std::uint64_t rows = value_count / fields_.size();
  if (rows != graph_.node_count() || value_count % fields_.size() != 0) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("the header says {} nodes and there are {} numbers of them, not {}",
                            graph_.node_count(), value_count, graph_.node_count() * fields_.size()));
  }
  if (rows == 0) return fail(ErrorCode::kInvalidInput, "there are no nodes");
  if (bad_.row() != FirstBadRow::kNone)
    return fail(ErrorCode::kInvalidInput, fmt::format("node {}: a number is out of range", bad_.row()));
  for (const Late& late : late_) {
    if (late.field == Field::kId) graph_.ids.set(late.row, late.value);
    if (late.field == Field::kSelfSize) graph_.self_sizes.set(late.row, late.value);
    if (late.field == Field::kDomState)
      graph_.types[late.row] |= static_cast<std::uint8_t>(late.value << HeapGraph::kDomStateShift);
  }
  std::uint64_t edges = 0;
  graph_.edge_begins[0] = 0;
  for (std::size_t i = 1; i < graph_.edge_begins.size(); ++i) {
    edges += graph_.edge_begins[i];
    graph_.edge_begins[i] = static_cast<std::uint32_t>(edges);
    if (edges >= HeapGraph::kNone)
      return fail(ErrorCode::kLimit, "the nodes have more than 4,294,967,294 edges");
  }
  if (std::ranges::all_of(graph_.trace_nodes, [](std::uint32_t id) { return id == 0; }))
    graph_.trace_nodes = {};
  return {};
}

EdgeColumns::EdgeColumns(const SnapshotMeta& meta, HeapGraph& graph)
    : graph_(graph), node_fields_(static_cast<std::uint32_t>(meta.node_fields.size())) {
  for (const std::string& name : meta.edge_fields) {
    fields_.push_back(name == "type"            ? Field::kType
                      : name == "name_or_index" ? Field::kName
                      : name == "to_node"       ? Field::kTarget
                                                : Field::kOther);
  }
  type_count_ = std::min(meta.edge_types.size(), types_.size());
  for (std::size_t i = 0; i < type_count_; ++i) {
    const auto known = std::ranges::find(kHeapEdgeTypeNames, meta.edge_types[i]);
    types_[i] = static_cast<std::uint8_t>(known - kHeapEdgeTypeNames.begin());  // the one past them is kOther
  }
  const std::size_t count = graph.edge_begins.back();
  graph.edge_types.resize(count);
  graph.edge_names.resize(count);
  graph.edge_targets.resize(count);
}

void EdgeColumns::store_types(std::uint64_t row, std::span<const std::uint64_t> values, std::size_t stride) {
  const std::size_t rows = rows_in(values.size(), stride, row, graph_.edge_count());
  for (std::size_t i = 0; i < rows; ++i) {
    const std::uint64_t type = values[i * stride];
    if (type >= type_count_) bad_.note(row + i);
    graph_.edge_types[row + i] = types_[type % types_.size()];
  }
}

void EdgeColumns::store_names(std::uint64_t row, std::span<const std::uint64_t> values, std::size_t stride) {
  const std::size_t rows = rows_in(values.size(), stride, row, graph_.edge_count());
  for (std::size_t i = 0; i < rows; ++i) {
    const std::uint64_t value = values[i * stride];
    if (value > kMaxUint32 && value >> 31 != 0x1FFFFFFFF) bad_.note(row + i);  // an index may be below zero
    graph_.edge_names[row + i] = static_cast<std::uint32_t>(value);
  }
}

// Division by a constant is several times as fast.
template <std::uint32_t kFields>
void EdgeColumns::store_targets(std::uint64_t row, std::span<const std::uint64_t> values,
                                std::size_t stride) {
  const std::size_t rows = rows_in(values.size(), stride, row, graph_.edge_count());
  const std::uint64_t fields = kFields != 0 ? kFields : node_fields_;
  const std::size_t nodes = graph_.node_count();
  for (std::size_t i = 0; i < rows; ++i) {
    const std::uint32_t node = node_of_index(values[i * stride], fields, nodes);
    if (node == HeapGraph::kNone) bad_.note(row + i);
    graph_.edge_targets[row + i] = node;
  }
}

void EdgeColumns::store(std::uint64_t first, std::span<const std::uint64_t> values) {
  for_each_field(fields_, first, values, [&](Field field, std::uint64_t row, auto rest) {
    const std::size_t stride = fields_.size();
    if (field == Field::kType) {
      store_types(row, rest, stride);
    } else if (field == Field::kName) {
      store_names(row, rest, stride);
    } else if (field == Field::kTarget) {
      node_fields_ == 7   ? store_targets<7>(row, rest, stride)
      : node_fields_ == 6 ? store_targets<6>(row, rest, stride)
                          : store_targets<0>(row, rest, stride);
    }
  });
}

Result<void> EdgeColumns::finish(std::uint64_t value_count) {
  if (value_count != graph_.edge_count() * fields_.size()) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("the nodes have {} edges and there are {} numbers of them, not {}",
                            graph_.edge_count(), value_count, graph_.edge_count() * fields_.size()));
  }
  if (bad_.row() != FirstBadRow::kNone)
    return fail(ErrorCode::kInvalidInput,
                fmt::format("edge {} leads to no node or has a type that is not listed", bad_.row()));
  return {};
}

}  // namespace nodescope
