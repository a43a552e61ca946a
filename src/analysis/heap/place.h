#pragma once

#include <cstdint>
#include <string>

#include "analysis/heap/heap_analysis.h"
#include "analysis/heap/reach.h"

namespace nodescope {

// V8's own objects that a program does not know: backing stores, contexts, maps.
bool is_v8_internal(const HeapGraph& graph, std::uint32_t node);
bool is_context(const HeapGraph& graph, std::uint32_t node);

// The object that global variables are properties of.
bool is_global(const HeapGraph& graph, std::uint32_t node);

// "entries", "[17]", "context" for V8's.
std::string edge_text(const HeapGraph& graph, std::uint32_t edge);

// What a person calls a node: its class, a function's name, the name of V8's own.
std::string node_text(const HeapAnalysis& heap, std::uint32_t node);

// The whole name of the file, or "node:internal/timers", that a function was written in; empty: not known.
std::string script_of(const HeapGraph& graph, std::uint32_t closure);
// Who wrote the class of an object, by its constructor.
enum class ClassOrigin : std::uint8_t { kProgram, kNode, kNative };  // kProgram also where it is not known
ClassOrigin origin_of_class(const HeapGraph& graph, std::uint32_t object);
// The file of the function that a context or a closure belongs to, by the nearest closure on the path;
// without folders.  Empty where none is known.
std::string file_of(const HeapGraph& graph, const Reach& reach, std::uint32_t node);

// Where an object is kept, in the words of the program: "Ledger.entries", "cache" (a variable),
// "global.leak", "Store.items" (a static field).
struct Place {
  std::string name;
  std::string file;     // of the variable
  std::uint32_t owner;  // the object whose property it is; HeapGraph::kNone
};
Place place_of(const HeapAnalysis& heap, const Reach& reach, std::uint32_t node);

// "Ledger.entries (Map) ← ledger (app.js)"; `owners` says how many more are named after the first.
std::string place_text(const HeapAnalysis& heap, const Reach& reach, std::uint32_t node, int owners);

}  // namespace nodescope
