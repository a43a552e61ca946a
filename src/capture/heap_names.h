#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/flat_map.h"
#include "model/heap_graph.h"
#include "v8/constructor_names.h"
#include "v8/heap_objects.h"

namespace nodescope {

// The texts of a snapshot that come from a heap: names of properties, variables and objects.
class HeapTexts {
 public:
  HeapTexts(HeapGraphBuilder& builder, v8::Heap& heap, const v8::HeapObjects& objects, bool redact)
      : builder_(builder), heap_(heap), objects_(objects), redact_(redact) {}

  std::uint32_t intern(std::string_view text) { return builder_.intern(text); }
  std::uint32_t number(std::uint32_t value);
  // The name of a property: a string or a symbol.
  std::uint32_t key(std::uint64_t word);
  // Data of the program, which are left out where that was asked for.
  std::uint32_t data_key(std::uint64_t word) { return redact_ ? intern("(redacted)") : key(word); }
  // "get x"; of a symbol without the prefix.
  std::uint32_t accessor_key(std::string_view prefix, std::uint64_t word);
  std::uint32_t content(const v8::HeapObject& string);
  std::uint32_t content(std::uint64_t string);
  bool redacts() const { return redact_; }
  bool is_empty_string(std::uint64_t word) const;

 private:
  std::string text(std::uint64_t string);

  HeapGraphBuilder& builder_;
  v8::Heap& heap_;
  const v8::HeapObjects& objects_;
  bool redact_;
  FlatMap<std::uint64_t, std::uint32_t> keys_;
  std::vector<std::uint32_t> numbers_;
};

// Types and names of all objects, as V8's own snapshots have them (V8HeapExplorer::AddEntry and TagObject).
class HeapNodeNames {
 public:
  HeapNodeNames(const v8::HeapObjects& objects, v8::ConstructorNames& constructors, HeapTexts& texts);

  HeapNodeType type(std::uint32_t object) const { return static_cast<HeapNodeType>(types_[object]); }
  std::uint32_t name(std::uint32_t object) const { return names_[object]; }

 private:
  void name_object(std::uint32_t id, const v8::HeapObject& object);
  void name_system(std::uint32_t id, const v8::HeapObject& object, std::string_view type);
  void tag_parts(const v8::HeapObject& object);
  void tag_parts_of_code(const v8::HeapObject& object, std::string_view type);
  void tag_constants(std::uint64_t word, int depth);
  // An object without a name of its own is named by what refers to it; the first one wins.
  void tag(std::uint64_t word, std::string_view name);
  void tag(std::uint64_t word, std::string_view name, HeapNodeType type);
  bool has_type(std::uint64_t word, int type) const;
  void set(std::uint32_t id, HeapNodeType type, std::uint32_t name) {
    types_[id] = static_cast<std::uint8_t>(type);
    names_[id] = name;
  }

  const v8::HeapObjects& objects_;
  const v8::Layout& layout_;
  v8::ConstructorNames& constructors_;
  HeapTexts& texts_;
  bool has_shapes_;  // object shapes are a type of their own
  std::uint32_t empty_ = 0;
  std::vector<std::uint8_t> types_;
  std::vector<std::uint32_t> names_;
  FlatMap<int, std::uint32_t> system_names_;
};

// Whether a type of nodes that V8 calls code (V8HeapExplorer::GetSystemEntryType).
bool is_code_type(std::string_view type);

}  // namespace nodescope
