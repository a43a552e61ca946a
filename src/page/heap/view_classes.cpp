#include <algorithm>
#include <numeric>

#include "analysis/heap/place.h"
#include "page/heap/parts.h"
#include "page/heap/views.h"
#include "page/reply.h"

namespace nodescope::page {

namespace {

constexpr std::size_t kMaxRows = 5000;
constexpr std::size_t kRowsWithPlace = 200;
constexpr std::size_t kMaxObjects = 200;

struct Row {
  std::uint32_t heap_class = kNoRow;
  const HeapGroup* group = nullptr;  // of the newest snapshot
  const HeapDiffRow* diff = nullptr;
  std::string_view name;

  std::int64_t weight() const {
    if (diff != nullptr) return diff->retained_delta_bytes;
    return static_cast<std::int64_t>(group->retained_bytes);
  }
};

std::vector<Row> rows_of(const HeapSession& session) {
  const HeapClasses& classes = session.heap().classes();
  std::vector<Row> rows;
  std::vector<bool> is_seen(session.diff() == nullptr ? 0 : session.diff()->rows.size());
  for (const HeapGroup& group : session.groups()) {
    Row& row = rows.emplace_back(Row{group.heap_class, &group, nullptr, {}});
    row.name = session.heap().names().text(classes.classes[group.heap_class].name);
    if (session.diff() == nullptr) continue;
    const std::uint32_t number = session.diff()->row_of_class[group.heap_class];
    row.diff = &session.diff()->rows[number];
    is_seen[number] = true;
  }
  for (std::size_t i = 0; i < is_seen.size(); ++i) {
    const HeapDiffRow& gone = session.diff()->rows[i];
    if (!is_seen[i] && gone.removed != 0) rows.push_back({kNoRow, nullptr, &gone, gone.name});
  }
  std::ranges::stable_sort(rows, std::greater<>(), &Row::weight);
  return rows;
}

// By class, the object that retains the most.
std::vector<std::uint32_t> largest_of_classes(const HeapAnalysis& heap) {
  std::vector<std::uint32_t> largest(heap.classes().classes.size(), HeapGraph::kNone);
  for (std::uint32_t node = 0; node < heap.graph().node_count(); ++node) {
    std::uint32_t& best = largest[heap.classes().of_node[node]];
    if (heap.shallow_size(node) == 0) continue;
    if (best == HeapGraph::kNone || heap.retained_size(node) > heap.retained_size(best)) best = node;
  }
  return largest;
}

}  // namespace

Result<HeapClassesReply> answer_heap_classes(const HeapSession& session, const Query& /*query*/) {
  std::vector<Row> rows = rows_of(session);
  HeapClassesReply reply;
  reply.total = static_cast<double>(session.heap().total_bytes());
  reply.rows_count = rows.size();
  rows.resize(std::min(rows.size(), kMaxRows));
  const auto column = [&](const auto& value) {
    return make_column<double>(rows.size(), [&](std::size_t i) { return value(rows[i]); });
  };
  const auto of_group = [&](const auto& value) {
    return column(
        [&](const Row& row) { return row.group == nullptr ? 0.0 : static_cast<double>(value(*row.group)); });
  };
  for (const Row& row : rows) {
    reply.names.emplace_back(row.name);
    reply.heap_class.push_back(row.heap_class);
  }
  reply.count = of_group([](const HeapGroup& group) { return group.count; });
  reply.shallow = of_group([](const HeapGroup& group) { return group.shallow_bytes; });
  reply.retained = of_group([](const HeapGroup& group) { return group.retained_bytes; });
  reply.distance = of_group([](const HeapGroup& group) { return group.distance; });
  const auto largest = largest_of_classes(session.heap());
  for (std::size_t i = 0; i < std::min(rows.size(), kRowsWithPlace); ++i) {
    const std::uint32_t node = rows[i].group == nullptr ? HeapGraph::kNone : largest[rows[i].heap_class];
    reply.held.push_back(node == HeapGraph::kNone ? std::string()
                                                  : place_text(session.heap(), session.reach(), node, 1));
  }
  if (session.diff() == nullptr) return reply;
  const auto of_diff = [&](const auto& value) {
    return column([&](const Row& row) { return static_cast<double>(value(*row.diff)); });
  };
  reply.before_count = column([](const Row& row) {
    const std::uint64_t now = row.group == nullptr ? 0 : row.group->count;
    return static_cast<double>(static_cast<std::int64_t>(now) - row.diff->count_delta());
  });
  reply.added = of_diff([](const HeapDiffRow& row) { return row.added; });
  reply.removed = of_diff([](const HeapDiffRow& row) { return row.removed; });
  reply.shallow_delta = of_diff([](const HeapDiffRow& row) { return row.bytes_delta(); });
  reply.retained_delta = of_diff([](const HeapDiffRow& row) { return row.retained_delta_bytes; });
  return reply;
}

Result<HeapObjectsReply> answer_heap_objects(const HeapSession& session, const Query& query) {
  const HeapAnalysis& heap = session.heap();
  const auto heap_class = asked_class(session, query);
  if (!heap_class) return std::unexpected(heap_class.error());
  const auto from = query.integer("from", 0, HeapGraph::kNone);
  if (!from) return std::unexpected(from.error());
  const bool only_new = query.flag("new");
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t node = 0; node < heap.graph().node_count(); ++node) {
    if (heap.classes().of_node[node] == *heap_class && heap.shallow_size(node) != 0 &&
        (!only_new || session.is_new(node)))
      nodes.push_back(node);
  }
  std::ranges::stable_sort(nodes, std::greater<>(),
                           [&](std::uint32_t node) { return heap.retained_size(node); });
  HeapObjectsReply reply;
  reply.name = heap.names().text(heap.classes().classes[*heap_class].name);
  reply.rows_count = nodes.size();
  const std::size_t first = std::min<std::size_t>(*from, nodes.size());
  for (const std::uint32_t node :
       std::span(nodes).subspan(first, std::min(kMaxObjects, nodes.size() - first))) {
    reply.labels.push_back(object_label(session, node));
    reply.held.push_back(place_text(heap, session.reach(), node, 0));
    reply.id.push_back(static_cast<double>(heap.graph().ids[node]));
    reply.shallow.push_back(static_cast<double>(heap.shallow_size(node)));
    reply.retained.push_back(static_cast<double>(heap.retained_size(node)));
    reply.is_new.push_back(session.is_new(node) ? 1 : 0);
  }
  return reply;
}

}  // namespace nodescope::page
