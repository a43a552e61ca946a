#include "analysis/heap/place.h"

#include <fmt/format.h>

#include <vector>

#include "base/path.h"

namespace nodescope {

namespace {

constexpr std::uint32_t kNone = HeapGraph::kNone;
constexpr int kMostSteps = 12;

// Without a class of its own: to be named by what it is a property of.
bool is_anonymous(const HeapAnalysis& heap, std::uint32_t node) {
  const std::string_view name = heap.graph().name(node);
  return name == "Object" || name == "Array" || name == "Map" || name == "Set" || name.empty();
}

std::uint32_t property_target(const HeapGraph& graph, std::uint32_t node, std::string_view name) {
  for (std::uint32_t edge = graph.edge_begins[node]; edge < graph.edge_begins[node + 1]; ++edge) {
    if (graph.edge_type(edge) == HeapEdgeType::kProperty && graph.strings[graph.edge_names[edge]] == name)
      return graph.edge_targets[edge];
  }
  return kNone;
}

std::uint32_t script_node_of(const HeapGraph& graph, std::uint32_t closure) {
  const std::uint32_t shared = internal_target(graph, closure, "shared");
  if (shared == kNone) return kNone;
  std::uint32_t script = internal_target(graph, shared, "script");
  if (script == kNone) script = internal_target(graph, shared, "script_or_debug_info");
  return script;
}

// A name that was put together from pieces may still be in pieces.
std::string text_of_string(const HeapGraph& graph, std::uint32_t node) {
  constexpr std::size_t kLongest = 1024;
  constexpr int kMostPieces = 64;
  std::string text;
  std::vector<std::uint32_t> waiting = {node};
  for (int pieces = 0; !waiting.empty() && pieces < kMostPieces && text.size() < kLongest; ++pieces) {
    const std::uint32_t piece = waiting.back();
    waiting.pop_back();
    if (graph.type(piece) != HeapNodeType::kConcatenatedString) {
      text += graph.name(piece);
      continue;
    }
    for (const std::string_view half : {"second", "first"}) {
      const std::uint32_t target = internal_target(graph, piece, half);
      if (target != kNone) waiting.push_back(target);
    }
  }
  return text;
}

bool is_identifier(std::string_view name) {
  return !name.empty() && name.find_first_of(" /.,'\"{}[]()<>") == std::string_view::npos;
}

std::string property_text(std::string_view name) {
  return is_identifier(name) ? fmt::format(".{}", name) : fmt::format("[\"{}\"]", name);
}

std::string without_dot(const std::string& text) {
  return text.starts_with('.') ? text.substr(1) : text;
}

}  // namespace

bool is_global(const HeapGraph& graph, std::uint32_t node) {
  const std::string_view name = graph.name(node);
  return graph.type(node) == HeapNodeType::kObject &&
         (name.starts_with("global") || name == "Object [global]");
}

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

std::string script_of(const HeapGraph& graph, std::uint32_t closure) {
  const std::uint32_t script = script_node_of(graph, closure);
  if (script == kNone) return {};
  const std::uint32_t name = internal_target(graph, script, "name");
  return name == kNone ? std::string(graph.name(script)) : text_of_string(graph, name);
}

ClassOrigin origin_of_class(const HeapGraph& graph, std::uint32_t object) {
  const std::uint32_t prototype = property_target(graph, object, "__proto__");
  const std::uint32_t constructor =
      prototype == kNone ? kNone : property_target(graph, prototype, "constructor");
  if (constructor == kNone || graph.type(constructor) != HeapNodeType::kClosure) return ClassOrigin::kProgram;
  if (script_node_of(graph, constructor) == kNone) return ClassOrigin::kNative;
  return script_of(graph, constructor).starts_with("node:") ? ClassOrigin::kNode : ClassOrigin::kProgram;
}

namespace {

// Of the nearest function on the path to `node`, itself included.
std::string script_near(const HeapGraph& graph, const Reach& reach, std::uint32_t node) {
  const std::uint32_t place = node;
  for (int steps = 0; node != kNone && steps < kMostSteps; node = reach.parents[node], ++steps) {
    if (graph.type(node) != HeapNodeType::kClosure) continue;
    std::string script = script_of(graph, node);
    if (!script.empty()) return script;
  }
  const auto closure = reach.closures.find(place);
  return closure == reach.closures.end() ? std::string() : script_of(graph, closure->second);
}

}  // namespace

std::string file_of(const HeapGraph& graph, const Reach& reach, std::uint32_t node) {
  return std::string(file_name_of(script_near(graph, reach, node)));
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
