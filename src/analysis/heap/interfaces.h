#pragma once

#include <string>
#include <vector>

#include "analysis/heap/heap_names.h"
#include "model/heap_graph.h"

namespace nodescope {

// The shape of many plain objects: "{id, name}".
struct HeapInterface {
  std::string name;
  std::vector<std::string> properties;

  bool operator==(const HeapInterface&) const = default;
};

// An object without a class of its own.
bool is_plain_object(const HeapGraph& graph, const HeapNames& names, std::uint32_t node);

// The shapes that plain objects have often enough, most frequent first
// (HeapSnapshot.inferInterfaceDefinitions of DevTools).
std::vector<HeapInterface> infer_interfaces(const HeapGraph& graph, const HeapNames& names);

// For every plain object the interface that it fits with the most properties, then the earlier one; kNone:
// none. `each` is called with the node and the index.
class InterfaceMatcher {
 public:
  static constexpr std::uint32_t kNone = HeapGraph::kNone;

  InterfaceMatcher(const HeapGraph& graph, const std::vector<HeapInterface>& interfaces);

  std::uint32_t match(std::uint32_t node);

 private:
  // A property that an interface needs, and how often.
  struct Need {
    std::uint32_t property;
    std::uint32_t count;
  };
  struct Candidate {
    std::uint32_t interface;
    std::uint32_t size;  // number of its properties
    std::vector<Need> needs;
  };

  const HeapGraph& graph_;
  FlatMap<std::string_view, std::uint32_t> properties_;   // of any interface
  FlatMap<std::uint64_t, std::uint32_t> property_names_;  // by the index of the text; kNone: of no interface
  std::vector<std::vector<Candidate>> by_property_;       // each interface once, under its rarest property
  std::vector<std::uint32_t> counts_;                     // by property, of the node at hand
  std::vector<std::uint32_t> present_;
};

}  // namespace nodescope
