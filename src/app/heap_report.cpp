#include "app/heap_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "analysis/heap/holder.h"
#include "analysis/heap/place.h"
#include "analysis/heap/reach.h"
#include "app/function_report.h"
#include "app/heap_lines.h"
#include "base/flat_map.h"
#include "base/text.h"
#include "json/writer.h"

namespace nodescope {

namespace {

constexpr std::size_t kLongestPath = 24;
constexpr std::size_t kLongestJsonPath = 1000;

std::string distance_text(std::int32_t distance) {
  if (distance == kNoDistance) return "-";
  return distance >= kSystemDistance ? "V8" : fmt::format("{}", distance);
}

std::string signed_text(std::int64_t value, bool bytes) {
  const auto size = static_cast<std::uint64_t>(value < 0 ? -value : value);
  return (value < 0 ? "-" : "+") + (bytes ? human_bytes(size) : with_thousands(size));
}

std::string heading(const HeapAnalysis& heap) {
  return fmt::format("{} in {} objects with {} references\n", human_bytes(heap.total_bytes()),
                     with_thousands(heap.graph().node_count()), with_thousands(heap.graph().edge_count()));
}

std::string statistics_text(const HeapStatistics& bytes) {
  std::string text;
  const std::uint64_t known = bytes.code + bytes.strings + bytes.js_arrays + bytes.native + bytes.system;
  const auto line = [&](std::string_view what, std::uint64_t size) {
    fmt::format_to(std::back_inserter(text), "  {:<22}{:>10} {:>5.1f} %\n", what, human_bytes(size),
                   percent(size, bytes.total));
  };
  line("code", bytes.code);
  line("strings", bytes.strings);
  line("arrays", bytes.js_arrays);
  line("outside of V8's heap", bytes.native);
  if (bytes.typed_arrays != 0) line("  of typed arrays", bytes.typed_arrays);
  line("V8's own", bytes.system);
  if (bytes.total > known) line("other objects", bytes.total - known);
  return text;
}

// A class by its name, and where its constructor is if several have the name.
std::vector<std::string> shown_names(const HeapAnalysis& heap, std::span<const HeapGroup> groups) {
  FlatMap<std::string_view, int> uses;
  const auto& classes = heap.classes().classes;
  for (const HeapGroup& group : groups) ++uses[heap.names().text(classes[group.heap_class].name)];
  std::vector<std::string> names;
  for (const HeapGroup& group : groups) {
    const HeapClass& heap_class = classes[group.heap_class];
    const std::string_view name = heap.names().text(heap_class.name);
    std::string& shown = names.emplace_back(name);
    if (uses[name] > 1 && heap_class.location)
      shown +=
          fmt::format(" (script {}, line {})", heap_class.location->script_id, heap_class.location->line + 1);
  }
  return names;
}

void write_statistics(json::Writer& json, const HeapStatistics& bytes) {
  json.key("statistics").begin_object();
  json.key("total").count(bytes.total);
  json.key("native").count(bytes.native);
  json.key("typed_arrays").count(bytes.typed_arrays);
  json.key("code").count(bytes.code);
  json.key("js_arrays").count(bytes.js_arrays);
  json.key("strings").count(bytes.strings);
  json.key("system").count(bytes.system);
  json.end_object();
}

Result<void> summary_json(const HeapAnalysis& heap, std::span<const HeapGroup> groups, ByteSink& sink) {
  json::Writer json(sink);
  json.begin_object();
  json.key("nodes").count(heap.graph().node_count());
  json.key("edges").count(heap.graph().edge_count());
  json.key("total_bytes").count(heap.total_bytes());
  write_statistics(json, derive_statistics(heap));
  json.key("groups").begin_array();
  for (const HeapGroup& group : groups) {
    const HeapClass& heap_class = heap.classes().classes[group.heap_class];
    json.line().begin_object();
    json.key("name").string(heap.names().text(heap_class.name));
    json.key("count").count(group.count);
    json.key("shallow_bytes").count(group.shallow_bytes);
    json.key("retained_bytes").count(group.retained_bytes);
    json.key("distance").integer(group.distance);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.finish();
}

void write_node(json::Writer& json, const HeapAnalysis& heap, std::uint32_t node) {
  const HeapGraph& graph = heap.graph();
  json.key("id").count(graph.ids[node]);
  json.key("class").string(heap.class_name(node));
  json.key("name").string(heap.names().text_of(node));
  json.key("shallow_bytes").count(heap.shallow_size(node));
  json.key("retained_bytes").count(heap.retained_size(node));
  json.key("distance").integer(heap.distance(node));
  json.key("dominator_id").count(graph.ids[heap.dominator(node)]);
}

// "@17 Voucher"
std::string node_label(const HeapAnalysis& heap, std::uint32_t node) {
  return fmt::format("{} @{}", node_text(heap, node), heap.graph().ids[node]);
}

}  // namespace

Result<void> write_heap_summary(const HeapAnalysis& heap, const HeapReportOptions& options, ByteSink& sink) {
  const auto groups = derive_groups(heap);
  if (options.json) return summary_json(heap, groups, sink);
  const auto names = shown_names(heap, groups);
  std::string text = heading(heap) +
                     printable(keeper_sentence(heap, derive_reach(heap.graph()), find_largest_keeper(heap))) +
                     "\n\n" + statistics_text(derive_statistics(heap)) + "\n";
  fmt::format_to(std::back_inserter(text), "{:>12} {:>10} {:>10} {:>7} {:>8}  {}\n", "count", "shallow",
                 "retained", "", "distance", "class");
  const std::size_t shown = shown_count(groups.size(), options);
  for (std::size_t i = 0; i < shown; ++i) {
    const HeapGroup& group = groups[i];
    fmt::format_to(std::back_inserter(text), "{:>12} {:>10} {:>10} {:>5.1f} % {:>8}  {}\n",
                   with_thousands(group.count), human_bytes(group.shallow_bytes),
                   human_bytes(group.retained_bytes), percent(group.retained_bytes, heap.total_bytes()),
                   distance_text(group.distance), fitted(names[i], options, 54));
  }
  append_rest(groups.size(), shown, text);
  return sink.write(text);
}

namespace {

struct TreeRow {
  std::uint32_t node;
  std::uint32_t depth;
};

// The largest nodes of the dominators' tree, `limit` of them, each below its dominator.
std::vector<TreeRow> largest_dominators(const HeapAnalysis& heap, std::size_t limit) {
  constexpr std::uint32_t kDeepest = 12;
  const std::uint32_t root = heap.graph().root;
  // The smallest size that is shown: that of the last among the largest.
  std::vector<std::uint32_t> nodes(heap.graph().node_count());
  std::iota(nodes.begin(), nodes.end(), 0U);
  const auto larger = [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(heap.retained_size(a), b) > std::pair(heap.retained_size(b), a);
  };
  const std::size_t count = limit == 0 ? nodes.size() : std::min(limit + 1, nodes.size());
  std::ranges::nth_element(nodes, nodes.begin() + static_cast<std::ptrdiff_t>(count - 1), larger);
  const std::uint64_t least = heap.retained_size(nodes[count - 1]);
  std::vector<TreeRow> rows;
  std::vector<TreeRow> waiting = {{root, 0}};
  while (!waiting.empty() && (limit == 0 || rows.size() <= limit)) {
    const TreeRow row = waiting.back();
    waiting.pop_back();
    if (row.node != root) rows.push_back(row);
    if (row.depth == kDeepest) continue;
    std::vector<std::uint32_t> children;
    for (const std::uint32_t child : heap.dominator_tree().children(row.node)) {
      if (heap.retained_size(child) >= least && heap.retained_size(child) != 0) children.push_back(child);
    }
    std::ranges::sort(children, [&](std::uint32_t a, std::uint32_t b) { return larger(b, a); });
    for (const std::uint32_t child : children) waiting.push_back({child, row.depth + 1});
  }
  return rows;
}

}  // namespace

Result<void> write_heap_dominators(const HeapAnalysis& heap, const HeapReportOptions& options,
                                   ByteSink& sink) {
  const auto rows = largest_dominators(heap, options.top);
  if (options.json) {
    json::Writer json(sink);
    json.begin_object().key("total_bytes").count(heap.total_bytes()).key("dominators").begin_array();
    for (const TreeRow& row : rows) {
      json.line().begin_object();
      write_node(json, heap, row.node);
      json.key("depth").count(row.depth);
      json.end_object();
    }
    json.end_array().end_object();
    return json.finish();
  }
  std::string text = heading(heap);
  fmt::format_to(std::back_inserter(text), "\n{:>10} {:>7} {:>10}  {}\n", "retained", "", "shallow",
                 "object");
  for (const TreeRow& row : rows) {
    const std::size_t indent = std::size_t{row.depth - 1} * 2;
    fmt::format_to(std::back_inserter(text), "{:>10} {:>5.1f} % {:>10}  {:{}}{}\n",
                   human_bytes(heap.retained_size(row.node)),
                   percent(heap.retained_size(row.node), heap.total_bytes()),
                   human_bytes(heap.shallow_size(row.node)), "", indent,
                   fitted(node_label(heap, row.node), options, 32 + indent));
  }
  return sink.write(text);
}

namespace {

Result<std::uint32_t> find_node(const HeapGraph& graph, std::uint64_t id) {
  for (std::uint32_t node = 0; node < graph.node_count(); ++node) {
    if (graph.ids[node] == id) return node;
  }
  return fail(ErrorCode::kNotFound, fmt::format("no object @{} in this snapshot", id));
}

std::vector<std::uint32_t> edges_into(const HeapAnalysis& heap, std::uint32_t node) {
  const HeapGraph& graph = heap.graph();
  std::vector<std::uint32_t> edges;
  for (std::uint32_t edge = 0; edge < graph.edge_count(); ++edge) {
    if (graph.edge_targets[edge] == node) edges.push_back(edge);
  }
  std::ranges::stable_sort(edges, {}, [&](std::uint32_t edge) {
    const std::int32_t distance = heap.distance(graph.edge_source(edge));
    return distance == kNoDistance ? kSystemDistance : distance;
  });
  return edges;
}

std::string edge_kind(const HeapGraph& graph, std::uint32_t edge) {
  const auto type = static_cast<std::size_t>(graph.edge_type(edge));
  return type < kHeapEdgeTypeNames.size() ? std::string(kHeapEdgeTypeNames[type]) : "other";
}

void append_path(const HeapAnalysis& heap, const Reach& reach, std::uint32_t node,
                 const HeapReportOptions& options, std::string& text) {
  text += "\nShortest path from a root\n";
  for (const std::uint32_t step : path_to(reach, node)) {
    const std::uint32_t edge = reach.edges[step];
    const std::string via = edge == Reach::kNone ? "" : edge_text(heap.graph(), edge);
    fmt::format_to(std::back_inserter(text), "  {:>28}  {}\n", printable(via),
                   fitted(node_label(heap, step), options, 32));
  }
}

}  // namespace

Result<void> write_heap_retainers(const HeapAnalysis& heap, std::uint64_t id,
                                  const HeapReportOptions& options, ByteSink& sink) {
  const HeapGraph& graph = heap.graph();
  const auto node = find_node(graph, id);
  if (!node) return std::unexpected(node.error());
  const auto edges = edges_into(heap, *node);
  const Reach reach = derive_reach(graph);
  if (options.json) {
    json::Writer json(sink);
    json.begin_object().key("node").begin_object();
    write_node(json, heap, *node);
    json.end_object().key("path").begin_array();
    for (const std::uint32_t step : path_to(reach, *node)) {
      json.line().begin_object().key("id").count(graph.ids[step]).key("name").string(node_text(heap, step));
      json.key("via")
          .string(reach.edges[step] == Reach::kNone ? "" : edge_text(graph, reach.edges[step]))
          .end_object();
    }
    json.end_array().key("retainers").begin_array();
    for (const std::uint32_t edge : edges) {
      json.line()
          .begin_object()
          .key("type")
          .string(edge_kind(graph, edge))
          .key("via")
          .string(edge_text(graph, edge));
      write_node(json, heap, graph.edge_source(edge));
      json.end_object();
    }
    json.end_array().end_object();
    return json.finish();
  }
  std::string text =
      fmt::format("{}: {}, retains {}, distance {}\nheld as {}\n", printable(node_label(heap, *node)),
                  human_bytes(heap.shallow_size(*node)), human_bytes(heap.retained_size(*node)),
                  distance_text(heap.distance(*node)), printable(place_text(heap, reach, *node, 3)));
  append_path(heap, reach, *node, options, text);
  fmt::format_to(std::back_inserter(text), "\n{:>8} {:<9} {:<28}  {}\n", "distance", "kind", "by",
                 "retainer");
  const std::size_t shown = shown_count(edges.size(), options);
  for (const std::uint32_t edge : std::span(edges).first(shown)) {
    const std::uint32_t source = graph.edge_source(edge);
    HeapReportOptions narrow = options;
    narrow.columns = kLongestText / 2;
    fmt::format_to(std::back_inserter(text), "{:>8} {:<9} {:<28}  {}\n", distance_text(heap.distance(source)),
                   edge_kind(graph, edge), fitted(edge_text(graph, edge), narrow, 2),
                   fitted(node_label(heap, source), options, 50));
  }
  append_rest(edges.size(), shown, text);
  return sink.write(text);
}

Result<void> write_heap_objects(const HeapAnalysis& heap, std::string_view class_name,
                                const HeapReportOptions& options, ByteSink& sink) {
  const HeapGraph& graph = heap.graph();
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t node = 0; node < graph.node_count(); ++node) {
    if (class_name == "*" || heap.class_name(node) == class_name) nodes.push_back(node);
  }
  if (nodes.empty()) {
    return fail(
        ErrorCode::kNotFound,
        fmt::format("no object of class {} in this snapshot; nodescope heap summary lists them", class_name));
  }
  if (class_name != "*")
    std::ranges::stable_sort(nodes, std::greater<>(),
                             [&](std::uint32_t node) { return heap.retained_size(node); });
  if (options.json) {
    json::Writer json(sink);
    json.begin_object().key("objects").begin_array();
    for (const std::uint32_t node : nodes) {
      json.line().begin_object();
      write_node(json, heap, node);
      json.end_object();
    }
    json.end_array().end_object();
    return json.finish();
  }
  const Reach reach = derive_reach(graph);
  std::string text =
      fmt::format("{} of class {}\n\n{:>10} {:>10} {:>8} {:>12}  {}\n", with_thousands(nodes.size()),
                  printable(class_name), "retained", "shallow", "distance", "id", "held as");
  const std::size_t shown = shown_count(nodes.size(), options);
  for (const std::uint32_t node : std::span(nodes).first(shown)) {
    fmt::format_to(std::back_inserter(text), "{:>10} {:>10} {:>8} {:>12}  {}\n",
                   human_bytes(heap.retained_size(node)), human_bytes(heap.shallow_size(node)),
                   distance_text(heap.distance(node)), fmt::format("@{}", graph.ids[node]),
                   fitted(place_text(heap, reach, node, 1), options, 46));
  }
  append_rest(nodes.size(), shown, text);
  return sink.write(text);
}

namespace {

// A list of a million links has as long a path.
std::vector<HeapLeak::Step> shown_path(const std::vector<HeapLeak::Step>& path, std::size_t most) {
  if (path.size() <= most) return path;
  const auto half = static_cast<std::ptrdiff_t>(most / 2);
  std::vector<HeapLeak::Step> shown(path.begin(), path.begin() + half);
  shown.push_back({fmt::format("({} more)", with_thousands(path.size() - most)), ""});
  shown.insert(shown.end(), path.end() - half, path.end());
  return shown;
}

Result<void> diff_json(const HeapDiff& diff, const LeakAnswer& answer, ByteSink& sink) {
  json::Writer json(sink);
  json.begin_object().key("leak");
  if (answer.leak) {
    const HeapLeak& leak = *answer.leak;
    json.begin_object().key("name").string(leak.name).key("count_delta").integer(leak.count_delta);
    json.key("retained_delta_bytes").integer(leak.retained_delta_bytes).key("holder").string(leak.holder);
    json.key("path").begin_array();
    for (const HeapLeak::Step& step : shown_path(leak.path, kLongestJsonPath))
      json.line().begin_object().key("name").string(step.name).key("via").string(step.via).end_object();
    json.end_array().end_object();
  } else {
    json.null();
  }
  json.key("groups").begin_array();
  for (const HeapDiffRow* row : shown_rows(diff)) {
    json.line().begin_object().key("name").string(row->name);
    json.key("new")
        .count(row->added)
        .key("deleted")
        .count(row->removed)
        .key("count_delta")
        .integer(row->count_delta());
    json.key("alloc_bytes").count(row->added_bytes).key("freed_bytes").count(row->removed_bytes);
    json.key("shallow_delta_bytes").integer(row->bytes_delta()).end_object();
  }
  json.end_array().end_object();
  return json.finish();
}

}  // namespace

Result<void> write_heap_diff(const HeapDiff& diff, const LeakAnswer& answer, const HeapReportOptions& options,
                             ByteSink& sink) {
  if (options.json) return diff_json(diff, answer, sink);
  std::string text = printable(leak_sentence(answer)) + "\n";
  if (answer.leak) {
    text += "\nOne of them, from a root\n";
    for (const HeapLeak::Step& step : shown_path(answer.leak->path, kLongestPath))
      fmt::format_to(std::back_inserter(text), "  {:>28}  {}\n", printable(step.via),
                     fitted(step.name, options, 32));
  }
  const auto rows = shown_rows(diff);
  fmt::format_to(std::back_inserter(text), "\n{:>10} {:>10} {:>10} {:>10} {:>10} {:>10}  {}\n", "new",
                 "deleted", "delta", "allocated", "freed", "change", "class");
  const std::size_t shown = shown_count(rows.size(), options);
  for (const HeapDiffRow* row : std::span(rows).first(shown)) {
    fmt::format_to(std::back_inserter(text), "{:>10} {:>10} {:>10} {:>10} {:>10} {:>10}  {}\n",
                   with_thousands(row->added), with_thousands(row->removed),
                   signed_text(row->count_delta(), false), human_bytes(row->added_bytes),
                   human_bytes(row->removed_bytes), signed_text(row->bytes_delta(), true),
                   fitted(row->name, options, 67));
  }
  append_rest(rows.size(), shown, text);
  return sink.write(text);
}

}  // namespace nodescope
