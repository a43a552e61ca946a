#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "v8/heap.h"

namespace nodescope::v8 {

// An own property of an object that has a name.
struct Property {
  TaggedWord key;  // String or Symbol
  bool is_accessor = false;
  TaggedWord value;  // an accessor's: its AccessorPair or what V8 has instead
  // When it was added, among those of an object that keeps them in a hash table; else 0.
  std::uint32_t order = 0;
};

// Own named properties of `object`, in V8's own order, until `visit` returns false.  Proxies have none, and
// what cannot be read is left out.  False when the object has more than `limit`: then not all were seen.
constexpr std::size_t kMaxProperties = 4096;
bool for_each_property(Heap& heap, TaggedWord object, const std::function<bool(const Property&)>& visit,
                       std::size_t limit = kMaxProperties);

// Objects with this map keep their properties in a hash table, so the map does not tell which they have.
bool is_dictionary_map(Heap& heap, TaggedWord map);

// The value of the own data property of this name.
std::optional<TaggedWord> find_data_property(Heap& heap, TaggedWord object, std::string_view name);

// What the object inherits from; nothing at the end of the chain.
std::optional<TaggedWord> prototype_of(Heap& heap, TaggedWord object);

// Longer chains of prototypes are circles or attacks.
constexpr int kMaxPrototypes = 64;

}  // namespace nodescope::v8
