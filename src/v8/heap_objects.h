#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "v8/heap_image.h"
#include "v8/heap_roots.h"
#include "v8/object_shape.h"

namespace nodescope::v8 {

// An object of the heap.
struct HeapObject {
  std::uint64_t address = 0;  // without a tag
  const ObjectShape* shape = nullptr;
  std::span<const std::byte> bytes;  // all of it

  std::uint64_t tagged() const { return address + 1; }
  std::uint64_t word(std::uint64_t offset) const {
    std::uint64_t value = 0;
    if (offset + sizeof value <= bytes.size()) std::memcpy(&value, bytes.data() + offset, sizeof value);
    return value;
  }
};

// A word of an object that refers to another one.
struct HeapSlot {
  std::uint64_t offset = 0;  // from the beginning of the object
  std::uint64_t word = 0;    // tagged
  bool is_weak = false;      // does not keep it alive
};

// Every slot of `object` but that of its map, in order.  Raw data are left out as far as types tell; a word
// that only looks like a reference has no object where it points to.
void for_each_slot(const ObjectShapes& shapes, const HeapObject& object,
                   const std::function<void(const HeapSlot&)>& visit);

// A pair of a WeakMap or WeakSet: the value lives as long as both the table and the key do.
struct Ephemeron {
  std::uint64_t key = 0;
  std::uint64_t value = 0;
  std::uint32_t key_index = 0;  // in the table, as an array
};
void for_each_ephemeron(const HeapObject& table, const std::function<void(const Ephemeron&)>& visit);

// The objects of one isolate that live: what its roots reach, by the rules of V8's own collector, and
// everything in the read-only space.  Objects have dense numbers, in the order of their addresses.
class HeapObjects {
 public:
  // How well the heap fits together.
  struct Check {
    std::uint64_t references = 0;
    // To where no object is: of a heap in the middle of a collection, or damaged.
    std::uint64_t broken_references = 0;
    std::uint64_t unknown_sizes = 0;  // objects of a type whose size is not known
    int unknown_type = -1;            // of the first one
  };

  // `shapes` is borrowed.
  static HeapObjects mark(ObjectShapes& shapes, const Isolate& isolate);

  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::uint32_t size() const { return count_; }
  const Check& check() const { return check_; }
  ObjectShapes& shapes() const { return *shapes_; }

  // Of the live object that `word` (tagged, weak or not) refers to; kNone where there is none.
  std::uint32_t find(std::uint64_t word) const;
  void for_each(const std::function<void(std::uint32_t, const HeapObject&)>& visit) const;
  // What is between live objects: garbage that the collector has not freed yet.  Memory that holds no object
  // is left out.
  void for_each_dead(const std::function<void(const HeapObject&)>& visit) const;

  std::optional<HeapObject> load(std::uint64_t address) const;

 private:
  struct PageMarks {
    std::vector<std::uint64_t> bits;   // by word of the page's objects
    std::vector<std::uint32_t> ranks;  // live objects before each 64 words
    std::uint32_t first = 0;
  };
  class Marker;

  explicit HeapObjects(ObjectShapes& shapes) : shapes_(&shapes) {}
  void number();
  template <typename Visit>
  void for_each_in(std::size_t page, const Visit& visit) const;

  ObjectShapes* shapes_;
  std::vector<PageMarks> marks_;  // by page of the image; empty: of another isolate
  std::uint32_t count_ = 0;
  Check check_;
};

}  // namespace nodescope::v8
