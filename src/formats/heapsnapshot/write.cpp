#include <fmt/format.h>

#include <charconv>
#include <iterator>
#include <string>

#include "formats/heapsnapshot/heapsnapshot.h"
#include "json/writer.h"

namespace nodescope {

namespace {

constexpr std::size_t kNodeFields = 7;
constexpr std::size_t kBlockBytes = 256 * 1024;
constexpr std::size_t kLongestNumber = 24;
constexpr std::size_t kLongestEscape = 12;  // a surrogate pair

// Text that goes to the sink in blocks; the first failure is kept.
class Output {
 public:
  explicit Output(ByteSink& sink) : sink_(sink) { block_.reserve(kBlockBytes); }

  void text(std::string_view text) {
    block_ += text;
    make_room(0);
  }
  // Separated by commas since the last begin().
  void begin(std::string_view text) {
    this->text(text);
    first_ = true;
  }
  void number(std::uint64_t value) {
    make_room(kLongestNumber);
    separate();
    char digits[kLongestNumber];
    const auto end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
    block_.append(std::begin(digits), end);
  }
  void quoted(std::string_view text);
  void separate() {
    if (!first_) block_ += ',';
    first_ = false;
  }
  void line_break() { block_ += '\n'; }

  Result<void> finish() {
    flush();
    return result_;
  }

 private:
  void make_room(std::size_t bytes) {
    if (block_.size() + bytes > kBlockBytes) flush();
  }
  void flush() {
    if (result_ && !block_.empty()) result_ = sink_.write(block_);
    block_.clear();
  }
  void escape_unit(std::uint32_t unit) { fmt::format_to(std::back_inserter(block_), "\\u{:04X}", unit); }
  std::size_t escape_sequence(std::string_view text);

  ByteSink& sink_;
  std::string block_;
  bool first_ = true;
  Result<void> result_;
};

// Writes the character that `text` begins with, one beyond ASCII, and says how many bytes it has.
std::size_t Output::escape_sequence(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<std::uint8_t>(text[i]) : std::uint8_t{0};
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0u) == 0x80; };
  const std::uint32_t first = byte(0);
  if (first >= 0xC2 && first < 0xE0 && follows(1)) {
    escape_unit((first & 0x1Fu) << 6 | (byte(1) & 0x3Fu));
    return 2;
  }
  if (first >= 0xE0 && first < 0xF0 && follows(1) && follows(2)) {  // a lone surrogate too
    escape_unit((first & 0x0Fu) << 12 | (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu));
    return 3;
  }
  if (first >= 0xF0 && first < 0xF5 && follows(1) && follows(2) && follows(3)) {
    const std::uint32_t code_point =
        (first & 0x07u) << 18 | (byte(1) & 0x3Fu) << 12 | (byte(2) & 0x3Fu) << 6 | (byte(3) & 0x3Fu);
    if (code_point >= 0x10000 && code_point <= 0x10FFFF) {
      escape_unit(0xD800 + ((code_point - 0x10000) >> 10));
      escape_unit(0xDC00 + ((code_point - 0x10000) & 0x3FF));
      return 4;
    }
  }
  block_ += "\\uFFFD";
  return 1;
}

void Output::quoted(std::string_view text) {
  separate();
  block_ += '"';
  for (std::size_t i = 0; i < text.size();) {
    make_room(kLongestEscape);
    const char c = text[i];
    if (static_cast<std::uint8_t>(c) >= 0x80) {
      i += escape_sequence(text.substr(i));
      continue;
    }
    if (c == '"' || c == '\\') {
      block_ += '\\';
      block_ += c;
    } else if (c == '\n') {
      block_ += "\\n";
    } else if (static_cast<std::uint8_t>(c) < 0x20) {
      escape_unit(static_cast<std::uint8_t>(c));
    } else {
      block_ += c;
    }
    ++i;
  }
  block_ += '"';
}

void write_names(json::Writer& json, std::span<const std::string_view> names) {
  json.begin_array();
  for (const std::string_view name : names) json.string(name);
  json.end_array();
}

void write_meta(json::Writer& json, const HeapGraph& graph) {
  using std::string_view_literals::operator""sv;
  constexpr auto kFields = std::to_array(
      {"type"sv, "name"sv, "id"sv, "self_size"sv, "edge_count"sv, "trace_node_id"sv, "detachedness"sv});
  static_assert(kFields.size() == kNodeFields);
  json.key("node_fields");
  write_names(json, kFields);
  json.key("node_types").begin_array().begin_array();
  for (const std::string& name : graph.node_type_names) json.string(name);
  json.end_array().string("string");
  for (std::size_t i = 2; i < kNodeFields; ++i) json.string("number");
  json.end_array().key("edge_fields");
  write_names(json, std::to_array({"type"sv, "name_or_index"sv, "to_node"sv}));
  json.key("edge_types").begin_array();
  write_names(json, kHeapEdgeTypeNames);
  json.string("string_or_number").string("node").end_array();
  json.key("trace_function_info_fields");
  write_names(
      json, std::to_array({"function_id"sv, "name"sv, "script_name"sv, "script_id"sv, "line"sv, "column"sv}));
  json.key("trace_node_fields");
  write_names(json, std::to_array({"id"sv, "function_info_index"sv, "count"sv, "size"sv, "children"sv}));
  json.key("sample_fields");
  write_names(json, std::to_array({"timestamp_us"sv, "last_assigned_id"sv}));
  json.key("location_fields");
  write_names(json, std::to_array({"object_index"sv, "script_id"sv, "line"sv, "column"sv}));
}

Result<void> write_header(const HeapGraph& graph, ByteSink& sink) {
  json::Writer json(sink);
  json.begin_object().key("meta").begin_object();
  write_meta(json, graph);
  json.end_object();
  json.key("node_count").count(graph.node_count()).key("edge_count").count(graph.edge_count());
  json.key("trace_function_count").count(graph.trace_functions.size());
  json.key("extra_native_bytes").count(graph.extra_native_bytes);
  if (graph.root != 0) json.key("root_index").count(graph.root * kNodeFields);
  json.end_object();
  return json.finish();
}

// A text that this program has no edge for is written as V8 writes one without a name.
void write_nodes_and_edges(const HeapGraph& graph, Output& out) {
  out.begin(",\n\"nodes\":[");
  for (std::size_t i = 0; i < graph.node_count(); ++i) {
    out.number(graph.type_index(i));
    out.number(graph.names[i]);
    out.number(graph.ids[i]);
    out.number(graph.self_sizes[i]);
    out.number(graph.edge_begins[i + 1] - graph.edge_begins[i]);
    out.number(graph.trace_nodes.empty() ? 0 : graph.trace_nodes[i]);
    out.number(static_cast<std::uint64_t>(graph.dom_state(i)));
    if (i % 64 == 63) out.line_break();
  }
  out.begin("],\n\"edges\":[");
  for (std::size_t i = 0; i < graph.edge_count(); ++i) {
    // Types that only this file had follow the named ones; "internal" comes nearest.
    const HeapEdgeType type =
        graph.edge_type(i) == HeapEdgeType::kOther ? HeapEdgeType::kInternal : graph.edge_type(i);
    out.number(static_cast<std::uint64_t>(type));
    out.number(graph.edge_names[i]);
    out.number(std::uint64_t{graph.edge_targets[i]} * kNodeFields);
    if (i % 64 == 63) out.line_break();
  }
}

// Nested as [id, function, count, size, [children…]].  Children need not lie beside each other in the model.
void write_trace_tree(const HeapGraph& graph, Output& out) {
  out.begin("],\n\"trace_tree\":[");
  const auto& tree = graph.trace_tree;
  std::vector<std::uint32_t> first_child(tree.size(), HeapGraph::kNone);
  std::vector<std::uint32_t> next_sibling(tree.size(), HeapGraph::kNone);
  for (std::size_t i = tree.size(); i-- > 1;) {
    next_sibling[i] = first_child[tree[i].caller];
    first_child[tree[i].caller] = static_cast<std::uint32_t>(i);
  }
  std::vector<std::uint32_t> path;
  std::uint32_t next = tree.empty() ? HeapGraph::kNone : 0;
  while (next != HeapGraph::kNone) {
    const HeapTraceNode& node = tree[next];
    for (const std::uint64_t value :
         {std::uint64_t{node.id}, std::uint64_t{node.function}, node.count, node.bytes})
      out.number(value);
    out.begin(",[");
    path.push_back(next);
    next = first_child[next];
    while (next == HeapGraph::kNone && !path.empty()) {
      out.text("]");
      next = next_sibling[path.back()];
      path.pop_back();
    }
    if (next != HeapGraph::kNone && next != first_child[path.back()]) out.text(",");
  }
}

void write_rest(const HeapGraph& graph, Output& out) {
  out.begin("],\n\"trace_function_infos\":[");
  for (const HeapTraceFunction& function : graph.trace_functions) {
    for (const std::uint32_t value : {function.function_id, function.name, function.script_name,
                                      function.script_id, function.line, function.column})
      out.number(value);
  }
  write_trace_tree(graph, out);
  out.begin("],\n\"samples\":[");
  for (const HeapTimeSample& sample : graph.samples) {
    out.number(sample.time_us);
    out.number(sample.last_id);
  }
  out.begin("],\n\"locations\":[");
  for (const HeapLocation& location : graph.locations) {
    out.number(std::uint64_t{location.node} * kNodeFields);
    out.number(location.script_id);
    out.number(location.line);
    out.number(location.column);
  }
  out.begin("],\n\"strings\":[");
  for (std::size_t i = 0; i < graph.strings.size(); ++i) {
    out.quoted(graph.strings[i]);
    out.line_break();
  }
  out.text("]}\n");
}

}  // namespace

Result<void> write_heap_snapshot(const HeapGraph& graph, ByteSink& sink) {
  if (auto begun = sink.write("{\"snapshot\":"); !begun) return begun;
  if (auto written = write_header(graph, sink); !written) return written;
  Output out(sink);
  write_nodes_and_edges(graph, out);
  write_rest(graph, out);
  return out.finish();
}

}  // namespace nodescope
