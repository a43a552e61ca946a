#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "capture/heap_names.h"
#include "model/heap_graph.h"
#include "v8/heap_objects.h"

namespace nodescope {

// A reference from one object to another, as V8's own snapshots show it.
struct HeapReference {
  HeapEdgeType type = HeapEdgeType::kInternal;
  std::uint32_t name = 0;    // a text, or a number; see has_number
  std::uint32_t object = 0;  // of HeapObjects
};

// Memory outside of the heap that belongs to an object.
struct NativeMemory {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::string_view name;
};

// The references of one object after the other, with the types and names that V8 gives them
// (V8HeapExplorer::ExtractReferences); what it does not name is hidden and numbered.
class HeapEdges {
 public:
  HeapEdges(v8::Heap& heap, const v8::HeapObjects& objects, HeapTexts& texts);

  // Valid until the next call.
  std::span<const HeapReference> read(const v8::HeapObject& object);
  std::optional<NativeMemory> native_memory(const v8::HeapObject& object) const;

 private:
  void read_receiver(const v8::HeapObject& object, std::string_view type);
  void read_properties(const v8::HeapObject& object);
  void read_fast_properties(const v8::HeapObject& object, std::uint64_t descriptors, std::size_t count);
  void read_dictionary(const v8::HeapObject& object);
  void read_global_dictionary(const v8::HeapObject& object);
  void read_elements(const v8::HeapObject& object);
  void read_function(const v8::HeapObject& object);
  void read_bound_function(const v8::HeapObject& object);
  void read_string(const v8::HeapObject& object);
  void read_map(const v8::HeapObject& object);
  void read_context(const v8::HeapObject& object);
  void read_array(const v8::HeapObject& object, std::uint64_t first);
  void read_named_fields(const v8::HeapObject& object, std::string_view type);
  void read_rest(const v8::HeapObject& object);

  // Of the field at `offset`, which then is no hidden reference any more.
  void internal(const v8::HeapObject& object, std::string_view name, std::uint64_t offset);
  void property(std::uint64_t key, std::uint64_t value, std::uint64_t offset, bool is_data);
  void accessor(std::uint64_t key, std::uint64_t pair, std::uint64_t offset);
  void add(HeapEdgeType type, std::uint32_t name, std::uint64_t word);
  void mark(std::uint64_t offset);
  bool is_number_field(std::uint32_t details) const;
  bool is_hole(std::uint64_t word, const v8::ObjectShape& shape) const;
  // What every snapshot leaves out: V8's constants, which everything refers to.
  bool is_essential(std::uint64_t word);
  const v8::ObjectShape* shape_of(std::uint64_t word) const;
  v8::HeapObject load(std::uint64_t word) const;

  static constexpr std::uint64_t kNoOffset = ~std::uint64_t{0};

  const v8::HeapObjects& objects_;
  const v8::Layout& layout_;
  HeapTexts& texts_;
  std::vector<HeapReference> references_;
  std::vector<bool> visited_;                 // by word of the object
  FlatMap<std::uint64_t, bool> unessential_;  // arrays without elements and basic maps, by address
};

}  // namespace nodescope
