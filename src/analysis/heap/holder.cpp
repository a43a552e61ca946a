#include "analysis/heap/holder.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analysis/heap/bits.h"
#include "analysis/heap/place.h"
#include "base/flat_map.h"
#include "base/text.h"

namespace nodescope {

namespace {

constexpr std::uint32_t kNone = HeapGraph::kNone;
constexpr double kLeastShareOfHeap = 0.1;

// Of what the global object or a root refers to, the part that is one holder rather than everything there is.
constexpr double kLeastShareOfRoot = 0.25;
// As many of one kind below each other are a list or a tree.
constexpr std::uint32_t kLeastLinks = 16;

// Roots and the global object refer to everything there is.
bool fans_out_by_itself(const HeapGraph& graph, const Reach& reach, std::uint32_t node) {
  return graph.type(node) == HeapNodeType::kSynthetic || reach.parents[node] == kNone ||
         is_global(graph, node);
}

// The object of the program that V8 keeps this one for.
std::uint32_t visible_object(const HeapGraph& graph, const Reach& reach, std::uint32_t node) {
  while (reach.parents[node] != kNone && is_v8_internal(graph, node) && !is_context(graph, node))
    node = reach.parents[node];
  return node;
}

// What links of a list have in common.
std::uint64_t link_key(const HeapGraph& graph, std::uint32_t node) {
  return std::uint64_t{graph.type_index(node)} << 32 | graph.names[node];
}

// The first link of a list or tree on the path; its size where there is none.
std::size_t first_link(const HeapGraph& graph, const std::vector<std::uint32_t>& path) {
  FlatMap<std::uint64_t, std::uint32_t> links;
  for (const std::uint32_t node : path) ++links[link_key(graph, node)];
  const auto is_link = [&](std::uint32_t node) { return links[link_key(graph, node)] >= kLeastLinks; };
  return static_cast<std::size_t>(std::ranges::find_if(path, is_link) - path.begin());
}

// The nearest of those that count, below `holder`.
std::uint32_t nearest(const HeapGraph& graph, const Reach& reach, std::uint32_t holder,
                      const std::function<bool(std::uint32_t)>& counts) {
  Bits inside(graph.node_count());
  inside.set(holder);
  for (const std::uint32_t node : reach.order) {
    if (node != holder && (reach.parents[node] == kNone || !inside[reach.parents[node]])) continue;
    inside.set(node);
    if (counts(node)) return node;
  }
  return holder;
}

}  // namespace

std::optional<HeapHolder> find_holder(const HeapAnalysis& heap, const Reach& reach,
                                      const std::function<bool(std::uint32_t)>& counts) {
  const HeapGraph& graph = heap.graph();
  HeapHolder holder;
  Column<std::uint32_t>& objects = holder.objects_by_node;
  objects.assign(graph.node_count(), 0);
  Column<std::uint32_t> heaviest;
  heaviest.assign(graph.node_count(), kNone);
  std::uint32_t top = kNone;
  for (std::size_t i = reach.order.size(); i-- > 0;) {
    const std::uint32_t node = reach.order[i];
    if (counts(node)) ++objects[node];
    if (objects[node] == 0) continue;
    const std::uint32_t parent = reach.parents[node];
    std::uint32_t& best = parent == kNone ? top : heaviest[parent];
    if (best == kNone || objects[node] >= objects[best]) best = node;
    if (parent == kNone) {
      holder.objects += objects[node];
    } else {
      objects[parent] += objects[node];
    }
  }
  if (top == kNone) return std::nullopt;
  std::vector<std::uint32_t> path = {top};
  while (!counts(path.back())) path.push_back(heaviest[path.back()]);
  double least = 0.5 * objects[top];
  std::size_t at = 0;
  for (; at + 1 < path.size() && !counts(path[at + 1]); ++at) {
    const double next = objects[path[at + 1]];
    if (next >= least) continue;
    if (!fans_out_by_itself(graph, reach, path[at]) || next < kLeastShareOfRoot * objects[top]) break;
    least = 0.5 * next;
  }
  const std::size_t link = first_link(graph, path);
  if (link != 0 && link <= at) at = fans_out_by_itself(graph, reach, path[link - 1]) ? link : link - 1;
  holder.node = path[at];
  // Variables of the program may be properties of the global object.
  const bool is_variable = is_global(graph, holder.node) && at + 1 < path.size() && counts(path[at + 1]);
  holder.is_root =
      fans_out_by_itself(graph, reach, visible_object(graph, reach, holder.node)) && !is_variable;
  holder.through = objects[holder.node];
  // Of a scope's variables the one that has most of them.
  const bool is_scope = is_context(graph, holder.node) || is_global(graph, holder.node);
  holder.sample =
      nearest(graph, reach, is_scope && at + 1 < path.size() ? path[at + 1] : holder.node, counts);
  return holder;
}

std::optional<std::uint32_t> find_largest_keeper(const HeapAnalysis& heap) {
  const auto least = static_cast<std::uint64_t>(kLeastShareOfHeap * static_cast<double>(heap.total_bytes()));
  const auto is_own = [&](std::uint32_t node) {
    return node != heap.graph().root && !is_v8_internal(heap.graph(), node) && !is_global(heap.graph(), node);
  };
  std::optional<std::uint32_t> keeper;
  std::uint32_t node = heap.graph().root;
  for (;;) {
    const auto children = heap.dominator_tree().children(node);
    if (children.empty()) break;
    const std::uint32_t next = *std::ranges::max_element(
        children, {}, [&](std::uint32_t child) { return heap.retained_size(child); });
    const bool has_most = heap.retained_size(next) * 2 >= heap.retained_size(node);
    if (heap.retained_size(next) < least || (keeper && !has_most)) break;
    node = next;
    if (is_own(node)) keeper = node;
  }
  return keeper;
}

std::string keeper_sentence(const HeapAnalysis& heap, const Reach& reach,
                            std::optional<std::uint32_t> keeper) {
  if (!keeper) return "No single object keeps a tenth of the heap alive";
  const std::uint64_t bytes = heap.retained_size(*keeper);
  return fmt::format("{} keeps {} alive, {:.1f} % of the heap", place_text(heap, reach, *keeper, 2),
                     human_bytes(bytes),
                     100.0 * static_cast<double>(bytes) / static_cast<double>(heap.total_bytes()));
}

}  // namespace nodescope
