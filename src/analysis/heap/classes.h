#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/heap/heap_names.h"
#include "analysis/heap/interfaces.h"
#include "model/heap_graph.h"

namespace nodescope {

// A row of DevTools' summary: objects of one constructor, or of one kind.
struct HeapClass {
  HeapName name = 0;
  std::optional<HeapLocation> location;  // of the constructor; its node says nothing
};

// The class of every node.
struct HeapClasses {
  std::vector<HeapClass> classes;  // in the order in which they were first seen
  Column<std::uint32_t> of_node;
};

// By DevTools' rules (calculateObjectNames, classKeyInternal), with these interfaces for plain objects.
HeapClasses classify(const HeapGraph& graph, HeapNames& names, const std::vector<HeapInterface>& interfaces);

// How DevTools identifies a class in two snapshots: "script,line,column,name".
std::string class_key(const HeapNames& names, const HeapClass& heap_class);

}  // namespace nodescope
