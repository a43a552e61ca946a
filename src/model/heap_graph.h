#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/column.h"
#include "base/diagnostics.h"
#include "base/flat_map.h"
#include "base/result.h"

namespace nodescope {

// V8's types of nodes by their names in a snapshot (V8HeapExplorer).  A file may have others: they follow,
// see HeapGraph::node_type_names.
enum class HeapNodeType : std::uint8_t {
  kHidden,
  kArray,
  kString,
  kObject,
  kCode,
  kClosure,
  kRegexp,
  kNumber,
  kNative,
  kSynthetic,
  kConcatenatedString,
  kSlicedString,
  kSymbol,
  kBigint,
  kObjectShape,
};
constexpr std::array<std::string_view, 15> kHeapNodeTypeNames = {"hidden",
                                                                 "array",
                                                                 "string",
                                                                 "object",
                                                                 "code",
                                                                 "closure",
                                                                 "regexp",
                                                                 "number",
                                                                 "native",
                                                                 "synthetic",
                                                                 "concatenated string",
                                                                 "sliced string",
                                                                 "symbol",
                                                                 "bigint",
                                                                 "object shape"};

enum class HeapEdgeType : std::uint8_t {
  kContext,   // a variable of a closure
  kElement,   // numbered, of an array
  kProperty,  // named, of an object
  kInternal,  // V8's own
  kHidden,    // numbered, V8's own
  kShortcut,  // from a root
  kWeak,
  kOther,  // a type that only this file has; with a name
};
constexpr std::array<std::string_view, 7> kHeapEdgeTypeNames = {"context", "element",  "property", "internal",
                                                                "hidden",  "shortcut", "weak"};

// Element and hidden edges have a number, all others a text.
constexpr bool has_number(HeapEdgeType type) {
  return type == HeapEdgeType::kElement || type == HeapEdgeType::kHidden;
}

enum class DomState : std::uint8_t { kUnknown, kAttached, kDetached };

// Numbers that nearly always fit into 32 bits.
class WideColumn {
 public:
  void resize(std::size_t size) {
    low_.resize(size);
    if (!high_.empty()) high_.resize(size);
  }
  std::size_t size() const { return low_.size(); }
  std::uint64_t operator[](std::size_t i) const {
    return high_.empty() ? low_[i] : std::uint64_t{high_[i]} << 32 | low_[i];
  }
  void set(std::size_t i, std::uint64_t value) {
    low_[i] = static_cast<std::uint32_t>(value);
    if (value >> 32 != 0 && high_.empty()) high_.assign(low_.size(), 0);
    if (!high_.empty()) high_[i] = static_cast<std::uint32_t>(value >> 32);
  }
  void push_back(std::uint64_t value) {
    low_.push_back(0);
    if (!high_.empty()) high_.push_back(0);
    set(low_.size() - 1, value);
  }
  // For several threads that write different rows; values that do not fit are set() by one of them later.
  std::span<std::uint32_t> low() { return low_; }

 private:
  Column<std::uint32_t> low_;
  std::vector<std::uint32_t> high_;  // empty while none is needed
};

// The texts of a snapshot, in one piece.  A surrogate without a partner is kept as three bytes, as in WTF-8.
class HeapStrings {
 public:
  std::uint32_t add(std::string_view text) {
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    ends_.push_back(bytes_.size());
    return static_cast<std::uint32_t>(ends_.size() - 1);
  }
  // For whoever writes a text piece by piece.
  void append(std::string_view piece) { bytes_.insert(bytes_.end(), piece.begin(), piece.end()); }
  void end_text() { ends_.push_back(bytes_.size()); }

  // Empty for one that is not there.
  std::string_view operator[](std::size_t i) const {
    if (i >= ends_.size()) return {};
    const std::uint64_t begin = i == 0 ? 0 : ends_[i - 1];
    return {bytes_.data() + begin, static_cast<std::size_t>(ends_[i] - begin)};
  }
  std::size_t size() const { return ends_.size(); }
  std::uint64_t text_bytes() const { return bytes_.size(); }
  void reserve_bytes(std::size_t bytes) { bytes_.reserve(bytes); }

 private:
  Column<char> bytes_;
  std::vector<std::uint64_t> ends_;
};

// Where an object's constructor, or a function, was written; lines and columns count from 0.
struct HeapLocation {
  std::uint32_t node = 0;
  std::uint32_t script_id = 0;
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  bool operator==(const HeapLocation&) const = default;
};

// While allocations are tracked: which function allocated, and when which ids were new.
struct HeapTraceFunction {
  std::uint32_t function_id = 0;
  std::uint32_t name = 0;  // text
  std::uint32_t script_name = 0;
  std::uint32_t script_id = 0;
  std::uint32_t line = 0;  // from 1; 0: unknown
  std::uint32_t column = 0;

  bool operator==(const HeapTraceFunction&) const = default;
};
struct HeapTraceNode {
  std::uint32_t id = 0;
  std::uint32_t function = 0;  // index of a HeapTraceFunction
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  std::uint32_t caller = 0;  // index of a HeapTraceNode, smaller than its own; the root's is itself

  bool operator==(const HeapTraceNode&) const = default;
};
struct HeapTimeSample {
  std::uint64_t time_us = 0;
  std::uint64_t last_id = 0;

  bool operator==(const HeapTimeSample&) const = default;
};

// All objects of a heap and what refers to what, as columns.  Nodes and edges are numbered from 0; the edges
// of node n are edge_begins[n] to edge_begins[n + 1].  Every number in here is in range, except those of
// texts: a text that is not there reads as an empty one.
class HeapGraph {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  std::size_t node_count() const { return names.size(); }
  std::size_t edge_count() const { return edge_targets.size(); }

  std::uint8_t type_index(std::size_t node) const { return types[node] & kTypeMask; }
  HeapNodeType type(std::size_t node) const { return static_cast<HeapNodeType>(type_index(node)); }
  DomState dom_state(std::size_t node) const { return static_cast<DomState>(types[node] >> kDomStateShift); }
  std::string_view type_name(std::size_t node) const { return node_type_names[type_index(node)]; }
  std::string_view name(std::size_t node) const { return strings[names[node]]; }

  HeapEdgeType edge_type(std::size_t edge) const { return static_cast<HeapEdgeType>(edge_types[edge]); }
  // The node that edge `edge` leaves.
  std::uint32_t edge_source(std::size_t edge) const;

  static constexpr std::uint8_t kTypeMask = 0x3F;
  static constexpr unsigned kDomStateShift = 6;
  static constexpr std::size_t kMaxTypes = kTypeMask + 1;

  // By node.
  Column<std::uint8_t> types;  // an index of node_type_names, and a DomState in the two highest bits
  Column<std::uint32_t> names;
  WideColumn ids;
  WideColumn self_sizes;
  Column<std::uint32_t> trace_nodes;  // ids of HeapTraceNode; empty: none
  Column<std::uint32_t> edge_begins = {0};

  // By edge.
  Column<std::uint8_t> edge_types;
  Column<std::uint32_t> edge_names;  // a text, or a number; see has_number
  Column<std::uint32_t> edge_targets;

  HeapStrings strings;
  std::vector<std::string> node_type_names{kHeapNodeTypeNames.begin(), kHeapNodeTypeNames.end()};
  std::uint32_t root = 0;
  bool has_dom_states = false;           // the file has a column for them
  std::uint64_t extra_native_bytes = 0;  // outside of all nodes

  std::vector<HeapLocation> locations;
  std::vector<HeapTraceFunction> trace_functions;
  std::vector<HeapTraceNode> trace_tree;
  std::vector<HeapTimeSample> samples;
  Diagnostics diagnostics;
};

// Makes a HeapGraph node by node: add_node, then the edges that leave it, then the next node.  An edge may go
// to a node that is yet to come.
class HeapGraphBuilder {
 public:
  void reserve(std::size_t nodes, std::size_t edges);

  // The same text is stored once.
  std::uint32_t intern(std::string_view text);

  struct Node {
    HeapNodeType type = HeapNodeType::kObject;
    std::uint32_t name = 0;  // from intern()
    std::uint64_t id = 0;    // DevTools reads 32 bits of it
    std::uint64_t self_size = 0;
    DomState dom_state = DomState::kUnknown;
  };
  // The first one is the root.
  std::uint32_t add_node(const Node& node);
  // From the last node that was added.  `name` is from intern(), or a number; see has_number.
  void add_edge(HeapEdgeType type, std::uint32_t name, std::uint32_t to);

  // More about any node, in any order.
  void add_self_size(std::uint32_t node, std::uint64_t bytes);
  void add_location(const HeapLocation& location) { graph_.locations.push_back(location); }
  void set_extra_native_bytes(std::uint64_t bytes) { graph_.extra_native_bytes = bytes; }

  std::size_t node_count() const { return graph_.node_count(); }

  // kLimit for more than 2^32 - 1 nodes or edges; kInvalidInput when an edge or a location points beyond the
  // last node, or there is no node.
  Result<HeapGraph> finish() &&;

 private:
  HeapGraph graph_;
  FlatMap<std::uint64_t, std::uint32_t> ids_by_hash_;  // of two texts with one hash the second has the next

  std::uint64_t edges_ = 0;
};

}  // namespace nodescope
