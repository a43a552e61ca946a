#include "analysis/heap/place.h"

#include <fmt/format.h>

#include "base/path.h"

namespace nodescope {

namespace {

constexpr std::uint32_t kNone = HeapGraph::kNone;
constexpr int kMostSteps = 12;

bool is_global(const HeapGraph& graph, std::uint32_t node) {
  const std::string_view name = graph.name(node);
  return graph.type(node) == HeapNodeType::kObject &&
         (name.starts_with("global") || name == "Object [global]");
}

// Without a class of its own: to be named by what it is a property of.
bool is_anonymous(const HeapAnalysis& heap, std::uint32_t node) {
  const std::string_view name = heap.graph().name(node);
  return name == "Object" || name == "Array" || name == "Map" || name == "Set" || name.empty();
}

std::uint32_t internal_target(const HeapGraph& graph, std::uint32_t node, std::string_view name,
                              std::string_view other_name) {
  for (std::size_t edge = graph.edge_begins[node]; edge < graph.edge_begins[node + 1]; ++edge) {
    if (graph.edge_type(edge) != HeapEdgeType::kInternal) continue;
    const std::string_view text = graph.strings[graph.edge_names[edge]];
    if (text == name || text == other_name) return graph.edge_targets[edge];
  }
  return kNone;
}

std::string_view script_of(const HeapGraph& graph, std::uint32_t closure) {
  const std::uint32_t shared = internal_target(graph, closure, "shared", "shared");
  if (shared == kNone) return {};
  const std::uint32_t script = internal_target(graph, shared, "script", "script_or_debug_info");
  if (script == kNone) return {};
  const std::uint32_t name = internal_target(graph, script, "name", "name");
  return name == kNone ? graph.name(script) : graph.name(name);
}

bool is_identifier(std::string_view name) {
  return !name.empty() && name.find_first_of(" /.,'\"{}[]()<>") == std::string_view::npos;
}

std::string property_text(std::string_view name) {
  return is_identifier(name) ? fmt::format(".{}", name) : fmt::format("[\"{}\"]", name);
}

std::string without_dot(std::string text) {
  return text.starts_with('.') ? text.substr(1) : text;
}

}  // namespace

bool is_context(const HeapGraph& graph, std::uint32_t node) {
  const std::string_view name = graph.name(node);
  return name.starts_with("system / ") && name.ends_with("Context");
}

bool is_v8_internal(const HeapGraph& graph, std::uint32_t node) {
  switch (graph.type(node)) {
    case HeapNodeType::kHidden:
    case HeapNodeType::kArray:
    case HeapNodeType::kCode:
    case HeapNodeType::kSynthetic:
    case HeapNodeType::kObjectShape:
      return true;
    default:
      return graph.name(node).starts_with("system / ");
  }
}

std::string edge_text(const HeapGraph& graph, std::uint32_t edge) {
  if (has_number(graph.edge_type(edge))) return fmt::format("[{}]", graph.edge_names[edge]);
  return std::string(graph.strings[graph.edge_names[edge]]);
}

std::string node_text(const HeapAnalysis& heap, std::uint32_t node) {
  const HeapGraph& graph = heap.graph();
  const std::string_view name = heap.names().text_of(node);
  switch (graph.type(node)) {
    case HeapNodeType::kClosure:
      return name.empty() ? "closure" : fmt::format("closure {}", name);
    case HeapNodeType::kObject:
      return std::string(heap.class_name(node));
    case HeapNodeType::kString:
    case HeapNodeType::kConcatenatedString:
    case HeapNodeType::kSlicedString:
      return "string";
    default:
      return name.empty() ? std::string(heap.class_name(node)) : std::string(name);
  }
}

namespace {

// A function that was made in `context`.
std::uint32_t closure_in(const HeapGraph& graph, std::uint32_t context) {
  for (std::uint32_t node = 0; node < graph.node_count(); ++node) {
    if (graph.type(node) == HeapNodeType::kClosure &&
        internal_target(graph, node, "context", "context") == context)
      return node;
  }
  return kNone;
}

}  // namespace

std::string file_of(const HeapGraph& graph, const Reach& reach, std::uint32_t node) {
  const std::uint32_t place = node;
  for (int steps = 0; node != kNone && steps < kMostSteps; node = reach.parents[node], ++steps) {
    if (graph.type(node) != HeapNodeType::kClosure) continue;
    const std::string_view script = script_of(graph, node);
    if (!script.empty()) return std::string(file_name_of(script));
  }
  const std::uint32_t closure = is_context(graph, place) ? closure_in(graph, place) : kNone;
  return closure == kNone ? std::string() : std::string(file_name_of(script_of(graph, closure)));
}

Place place_of(const HeapAnalysis& heap, const Reach& reach, std::uint32_t node) {
  const HeapGraph& graph = heap.graph();
  std::string name;
  for (int steps = 0; steps < kMostSteps; ++steps) {
    const std::uint32_t edge = reach.edges[node];
    const std::uint32_t parent = reach.parents[node];
    if (edge == kNone) break;
    const HeapEdgeType type = graph.edge_type(edge);
    if (type == HeapEdgeType::kContext)
      return {std::string(graph.strings[graph.edge_names[edge]]) + name, file_of(graph, reach, parent),
              kNone};
    if (type == HeapEdgeType::kElement && !is_v8_internal(graph, parent)) name = "[]" + name;
    if (type == HeapEdgeType::kProperty) name = property_text(graph.strings[graph.edge_names[edge]]) + name;
    if (is_global(graph, parent)) return {"global" + name, {}, kNone};
    if (graph.type(parent) == HeapNodeType::kClosure && type == HeapEdgeType::kProperty) {
      const std::string_view function = graph.name(parent);
      return {(function.empty() ? "function" : std::string(function)) + name, file_of(graph, reach, parent),
              kNone};
    }
    if (!is_v8_internal(graph, parent) && !is_anonymous(heap, parent) && !name.empty())
      return {std::string(graph.name(parent)) + name, {}, parent};
    if (graph.type(parent) == HeapNodeType::kSynthetic) break;
    node = parent;
  }
  return {name.empty() ? node_text(heap, node) : without_dot(name), {}, kNone};
}

std::string place_text(const HeapAnalysis& heap, const Reach& reach, std::uint32_t node, int owners) {
  const Place place = place_of(heap, reach, node);
  std::string text = fmt::format("{} ({})", place.name, node_text(heap, node));
  if (!place.file.empty()) text += fmt::format(" ← {}", place.file);
  std::uint32_t owner = place.owner;
  for (; owners > 0 && owner != kNone; --owners) {
    const Place next = place_of(heap, reach, owner);
    text += " ← " + next.name;
    if (!next.file.empty()) text += fmt::format(" ({})", next.file);
    owner = next.owner;
  }
  return text;
}

}  // namespace nodescope
