#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analysis/heap/holder.h"
#include "analysis/heap/place.h"
#include "base/text.h"
#include "page/heap/parts.h"
#include "page/heap/views.h"

namespace nodescope::page {

namespace {

constexpr std::size_t kMaxEdges = 200;
constexpr double kMaxId = 9007199254740991.0;  // a double has no fractions of it left

bool is_of_the_program(HeapEdgeType type) {
  return type == HeapEdgeType::kProperty || type == HeapEdgeType::kElement || type == HeapEdgeType::kContext;
}

// `other_end` is the object that an edge is shown with.
HeapEdges edge_columns(const HeapSession& session, std::vector<std::uint32_t> edges, std::size_t from,
                       const auto& other_end) {
  const HeapGraph& graph = session.graph();
  std::ranges::stable_partition(edges,
                                [&](std::uint32_t edge) { return is_of_the_program(graph.edge_type(edge)); });
  HeapEdges columns;
  columns.rows_count = edges.size();
  for (std::size_t i = from; i < std::min(edges.size(), from + kMaxEdges); ++i) {
    const std::uint32_t node = other_end(edges[i]);
    columns.names.push_back(edge_text(graph, edges[i]));
    columns.labels.push_back(object_label(session, node));
    columns.id.push_back(static_cast<double>(graph.ids[node]));
    columns.shallow.push_back(static_cast<double>(session.heap().shallow_size(node)));
    columns.retained.push_back(static_cast<double>(session.heap().retained_size(node)));
    columns.is_own.push_back(is_of_the_program(graph.edge_type(edges[i])) ? 1 : 0);
    columns.is_new.push_back(session.is_new(node) ? 1 : 0);
  }
  return columns;
}

std::vector<std::uint32_t> edges_from(const HeapGraph& graph, std::uint32_t node) {
  std::vector<std::uint32_t> edges;
  for (std::uint32_t edge = graph.edge_begins[node]; edge < graph.edge_begins[node + 1]; ++edge)
    edges.push_back(edge);
  return edges;
}

// Nearest to the program's roots first.
std::vector<std::uint32_t> edges_into(const HeapSession& session, std::uint32_t node) {
  const HeapGraph& graph = session.graph();
  std::vector<std::uint32_t> edges;
  for (std::uint32_t edge = 0; edge < graph.edge_count(); ++edge) {
    if (graph.edge_targets[edge] == node) edges.push_back(edge);
  }
  std::ranges::stable_sort(edges, {}, [&](std::uint32_t edge) {
    const std::int32_t distance = session.heap().distance(graph.edge_source(edge));
    return distance == kNoDistance ? kSystemDistance : distance;
  });
  return edges;
}

}  // namespace

Result<HeapObjectReply> answer_heap_object(const HeapSession& session, const Query& query) {
  const auto id = query.number("id", -1, 0, kMaxId);
  if (!id) return std::unexpected(id.error());
  const auto found = *id < 0 ? std::nullopt : session.find(static_cast<std::uint64_t>(*id));
  if (!found)
    return fail(ErrorCode::kNotFound,
                fmt::format("id={}: no such object in this snapshot", query.text("id")));
  const auto first_property = query.integer("properties", 0, HeapGraph::kNone);
  if (!first_property) return std::unexpected(first_property.error());
  const auto first_retainer = query.integer("retainers", 0, HeapGraph::kNone);
  if (!first_retainer) return std::unexpected(first_retainer.error());
  const HeapGraph& graph = session.graph();
  const HeapAnalysis& heap = session.heap();
  const std::uint32_t node = *found;
  HeapObjectReply reply;
  reply.id = *id;
  reply.label = object_label(session, node);
  reply.held = place_text(heap, session.reach(), node, 3);
  if (graph.type(node) == HeapNodeType::kString) reply.text = to_valid_utf8(graph.name(node));
  reply.heap_class = heap.classes().of_node[node];
  reply.class_name = heap.class_name(node);
  reply.shallow = static_cast<double>(heap.shallow_size(node));
  reply.retained = static_cast<double>(heap.retained_size(node));
  reply.distance = heap.distance(node);
  reply.is_new = session.is_new(node);
  reply.path = path_columns(session, node, nullptr);
  reply.properties = edge_columns(session, edges_from(graph, node), *first_property,
                                  [&](std::uint32_t edge) { return graph.edge_targets[edge]; });
  reply.retainers = edge_columns(session, edges_into(session, node), *first_retainer,
                                 [&](std::uint32_t edge) { return graph.edge_source(edge); });
  for (std::uint32_t at = node;; at = heap.dominator(at)) {
    reply.dominators.push_back(static_cast<double>(graph.ids[at]));
    if (heap.dominator(at) == at) break;
  }
  std::ranges::reverse(reply.dominators);
  return reply;
}

Result<HeapHolderReply> answer_heap_holder(const HeapSession& session, const Query& query) {
  const auto heap_class = asked_class(session, query);
  if (!heap_class) return std::unexpected(heap_class.error());
  const HeapAnalysis& heap = session.heap();
  const auto is_asked = [&](std::uint32_t node) {
    return heap.classes().of_node[node] == *heap_class && heap.shallow_size(node) != 0;
  };
  auto found =
      session.diff() == nullptr ? std::nullopt : find_holder(heap, session.reach(), [&](std::uint32_t node) {
        return is_asked(node) && session.is_new(node);
      });
  if (!found) found = find_holder(heap, session.reach(), is_asked);
  HeapHolderReply reply;
  reply.class_name = heap.names().text(heap.classes().classes[*heap_class].name);
  if (!found) return reply;  // nothing reaches any of them
  const auto& leak = session.answer().leak;
  const bool is_leak = leak && leak->heap_class == *heap_class;
  const std::uint32_t holder = is_leak ? leak->holder_node : found->node;
  const std::uint32_t sample = is_leak ? leak->sample : found->sample;
  reply.holder = is_leak ? leak->holder + leak->owners : place_text(heap, session.reach(), holder, 2);
  reply.objects = static_cast<double>(found->objects);
  reply.through = found->objects_by_node[holder];
  reply.path = path_columns(session, sample, &found->objects_by_node);
  const auto id = static_cast<double>(session.graph().ids[holder]);
  reply.step = static_cast<std::size_t>(std::ranges::find(reply.path.id, id) - reply.path.id.begin());
  return reply;
}

}  // namespace nodescope::page
