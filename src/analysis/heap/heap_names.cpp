#include "analysis/heap/heap_names.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "analysis/heap/bits.h"

namespace nodescope {

namespace {

constexpr std::size_t kStates = 3;

// DOM states by HeapSnapshot.propagateDOMState of DevTools: attached spreads along every edge but weak and
// hidden ones, then detached does.  Only native nodes take part.
class DomStates {
 public:
  explicit DomStates(const HeapGraph& graph) : graph_(graph), seen_(graph.node_count()) {}

  std::vector<std::uint32_t> find_detached() {
    for (std::uint32_t node = 0; node < graph_.node_count(); ++node) {
      if (graph_.dom_state(node) != DomState::kUnknown) visit(node, graph_.dom_state(node));
    }
    spread(DomState::kAttached);
    spread(DomState::kDetached);
    return std::move(detached_);
  }

 private:
  void visit(std::uint32_t node, DomState state) {
    if (seen_[node]) return;
    seen_.set(node);
    if (graph_.type(node) != HeapNodeType::kNative) return;
    if (state == DomState::kDetached) detached_.push_back(node);
    waiting_[static_cast<std::size_t>(state) % kStates].push_back(node);
  }
  void spread(DomState state) {
    std::vector<std::uint32_t>& waiting = waiting_[static_cast<std::size_t>(state)];
    while (!waiting.empty()) {
      const std::uint32_t node = waiting.back();
      waiting.pop_back();
      for (std::size_t edge = graph_.edge_begins[node]; edge < graph_.edge_begins[node + 1]; ++edge) {
        const HeapEdgeType type = graph_.edge_type(edge);
        if (type != HeapEdgeType::kHidden && type != HeapEdgeType::kWeak)
          visit(graph_.edge_targets[edge], state);
      }
    }
  }

  const HeapGraph& graph_;
  Bits seen_;
  std::array<std::vector<std::uint32_t>, kStates> waiting_;
  std::vector<std::uint32_t> detached_;
};

}  // namespace

HeapNames::HeapNames(const HeapGraph& graph)
    : graph_(graph), first_made_(static_cast<HeapName>(graph.strings.size())) {
  if (graph.has_dom_states) rename_detached_nodes();
}

void HeapNames::rename_detached_nodes() {
  const auto any = std::ranges::any_of(
      graph_.types, [](std::uint8_t type) { return type >> HeapGraph::kDomStateShift != 0; });
  if (!any) return;
  // One name for all that had the same; found by the index of the text, not by the text.
  for (const std::uint32_t node : DomStates(graph_).find_detached())
    renamed_.emplace(node, make("Detached " + std::string(graph_.name(node))));
}

}  // namespace nodescope
