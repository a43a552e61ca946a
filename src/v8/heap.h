#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/flat_map.h"
#include "binary/address.h"
#include "target/memory.h"
#include "v8/layout.h"

namespace nodescope::v8 {

// What V8 keeps in a field: a small integer or a pointer to an object.
struct TaggedWord {
  std::uint64_t value = 0;

  bool is_smi() const { return (value & 0xFFFFFFFFu) == 0; }
  std::int32_t smi() const { return static_cast<std::int32_t>(value >> 32); }
  bool is_object() const { return (value & 3) == 1; }
  Address address() const { return Address{value - 1}; }
  // A weak reference as a strong one.
  TaggedWord strong() const { return {value & ~std::uint64_t{2}}; }

  bool operator==(const TaggedWord&) const = default;
};

// Objects in the memory of a process, read with the layout of its V8.  Nothing read here is trusted: an
// object is what its map says only if the map is one itself.
class Heap {
 public:
  Heap(Memory& memory, const Layout& layout) : memory_(memory), layout_(layout) {}

  const Layout& layout() const { return layout_; }
  Memory& memory() { return memory_; }

  std::optional<TaggedWord> word(Address address) { return memory_.load<TaggedWord>(address); }
  std::optional<TaggedWord> field(TaggedWord object, std::int64_t offset) {
    return word(object.address() + static_cast<std::uint64_t>(offset));
  }
  std::optional<TaggedWord> field(TaggedWord object, const Fact& offset) {
    return offset.known() ? field(object, offset.value) : std::nullopt;
  }
  std::optional<TaggedWord> map(TaggedWord object);

  // Where a collector has moved the object to, while its old place still says so; else the object itself.
  TaggedWord moved(TaggedWord object);

  // A collector moves it soon, or it cannot be told.  What has an address in there may be another object by
  // now.
  bool is_young(TaggedWord object);

  // -1 unless `object` is one.
  int type(TaggedWord object);
  // The instance type that objects with this map have; -1 unless it is a map.
  int type_of_map(TaggedWord map);
  bool is(TaggedWord object, const Fact& type) { return type.known() && this->type(object) == type.value; }
  bool is_function(TaggedWord object) { return layout_.is_function(type(object)); }
  bool is_string(TaggedWord object) {
    const int number = type(object);
    return number >= 0 && number < layout_.type_first_nonstring.value;
  }

  // The length of something laid out like a FixedArray; its type has had several names.
  std::optional<std::int32_t> array_length(TaggedWord array);

  // The bytes of a ByteArray, if there are at most `limit`.
  std::optional<std::string> load_bytes(TaggedWord array, std::size_t limit);

  // The memory has changed.
  void forget() { types_by_map_.clear(); }

 private:
  std::optional<int> instance_type_at(TaggedWord map);

  Memory& memory_;
  const Layout& layout_;
  FlatMap<std::uint64_t, int> types_by_map_;
};

}  // namespace nodescope::v8
