#include "page/heap/parts.h"

#include <fmt/format.h>

#include "analysis/heap/place.h"
#include "base/text.h"
#include "page/reply.h"

namespace nodescope::page {

namespace {

constexpr std::size_t kLongestText = 120;
constexpr std::ptrdiff_t kMostSteps = 100;  // of a path

bool is_text(HeapNodeType type) {
  return type == HeapNodeType::kString || type == HeapNodeType::kConcatenatedString ||
         type == HeapNodeType::kSlicedString;
}

std::string quoted(std::string_view text) {
  if (text.size() <= kLongestText) return fmt::format("\"{}\"", text);
  return fmt::format("\"{}…\"", to_valid_utf8(text.substr(0, kLongestText)));
}

}  // namespace

std::string object_label(const HeapSession& session, std::uint32_t node) {
  const HeapGraph& graph = session.graph();
  if (node == graph.root) return "heap";
  const bool has_text = graph.type(node) == HeapNodeType::kString;
  const std::string text = has_text                    ? quoted(graph.name(node))
                           : is_text(graph.type(node)) ? std::string(graph.name(node))
                                                       : node_text(session.heap(), node);
  return fmt::format("{} @{}", text, graph.ids[node]);
}

bool is_own_object(const HeapGraph& graph, std::uint32_t node) {
  return !is_v8_internal(graph, node);
}

HeapPath path_columns(const HeapSession& session, std::uint32_t node, const Column<std::uint32_t>* objects) {
  const HeapGraph& graph = session.graph();
  HeapPath path;
  std::vector<std::uint32_t> steps = path_to(session.reach(), node);
  if (std::ssize(steps) > kMostSteps) {
    path.left_out = steps.size() - static_cast<std::size_t>(kMostSteps);
    steps.erase(steps.begin() + kMostSteps / 2, steps.end() - kMostSteps / 2);
  }
  for (const std::uint32_t step : steps) {
    const std::uint32_t edge = session.reach().edges[step];
    path.via.push_back(edge == Reach::kNone ? std::string() : edge_text(graph, edge));
    path.labels.push_back(object_label(session, step));
    path.id.push_back(static_cast<double>(graph.ids[step]));
    path.retained.push_back(static_cast<double>(session.heap().retained_size(step)));
    path.objects.push_back(objects == nullptr ? 0 : (*objects)[step]);
    path.is_own.push_back(is_own_object(graph, step) ? 1 : 0);
    path.is_new.push_back(session.is_new(step) ? 1 : 0);
  }
  return path;
}

Result<std::uint32_t> asked_class(const HeapSession& session, const Query& query) {
  const std::size_t classes = session.heap().classes().classes.size();
  if (query.text("class").empty() || classes == 0)
    return fail(ErrorCode::kUsage, "class=: no class is named");
  return query.integer("class", 0, static_cast<std::uint32_t>(classes - 1));
}

}  // namespace nodescope::page
