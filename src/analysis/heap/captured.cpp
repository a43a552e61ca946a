#include "analysis/heap/captured.h"

#include <algorithm>
#include <functional>

#include "analysis/heap/place.h"
#include "base/flat_map.h"

namespace nodescope {

namespace {

constexpr std::uint32_t kNone = HeapGraph::kNone;

class ScopeTable {
 public:
  ScopeTable(const HeapAnalysis& heap, const Reach& reach)
      : heap_(heap), graph_(heap.graph()), reach_(reach) {
    // What is in no scope.
    classes_.classes.emplace_back();
    scopes_.emplace_back();
    classes_.of_node.assign(graph_.node_count(), 0);
    for (std::uint32_t node = 0; node < graph_.node_count(); ++node) {
      if (is_context(graph_, node)) add(node);
    }
    count_functions();
  }

  std::vector<CapturedScope> take() {
    std::vector<CapturedScope> result;
    for (const HeapGroup& group : derive_groups(heap_, classes_)) {
      if (group.heap_class == 0) continue;
      CapturedScope& scope = scopes_[group.heap_class];
      scope.retained_bytes = group.retained_bytes;
      result.push_back(std::move(scope));
    }
    return result;
  }

 private:
  void add(std::uint32_t context) {
    std::string key;
    std::vector<CapturedScope::Variable> variables;
    for (std::uint32_t edge = graph_.edge_begins[context]; edge < graph_.edge_begins[context + 1]; ++edge) {
      if (graph_.edge_type(edge) != HeapEdgeType::kContext) continue;
      variables.push_back({edge_text(graph_, edge), graph_.edge_targets[edge]});
      key += variables.back().name + '\0';
    }
    if (variables.empty()) return;
    const auto closure = reach_.closures.find(context);
    const bool has_closure = closure != reach_.closures.end();
    const std::string file = has_closure ? script_of(graph_, closure->second) : std::string();
    const auto [known, is_new] =
        numbers_.try_emplace(key.append(file), static_cast<std::uint32_t>(scopes_.size()));
    if (is_new) {
      CapturedScope& scope = scopes_.emplace_back();
      if (has_closure) scope.function = graph_.name(closure->second);
      scope.file = file;
      scope.variables = variables;
      classes_.classes.emplace_back();
    }
    classes_.of_node[context] = known->second;
    CapturedScope& scope = scopes_[known->second];
    ++scope.count;
    for (std::size_t i = 0; i < variables.size(); ++i) {
      std::uint32_t& largest = scope.variables[i].largest;
      if (heap_.retained_size(variables[i].largest) > heap_.retained_size(largest))
        largest = variables[i].largest;
    }
  }

  void count_functions() {
    for (std::uint32_t node = 0; node < graph_.node_count(); ++node) {
      if (graph_.type(node) != HeapNodeType::kClosure) continue;
      const std::uint32_t context = internal_target(graph_, node, "context");
      if (context != kNone) ++scopes_[classes_.of_node[context]].functions;
    }
  }

  const HeapAnalysis& heap_;
  const HeapGraph& graph_;
  const Reach& reach_;
  HeapClasses classes_;  // of scopes instead of constructors
  std::vector<CapturedScope> scopes_;
  FlatMap<std::string, std::uint32_t> numbers_;
};

}  // namespace

std::vector<CapturedScope> derive_captured_scopes(const HeapAnalysis& heap, const Reach& reach) {
  return ScopeTable(heap, reach).take();
}

}  // namespace nodescope
