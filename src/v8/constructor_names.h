#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/flat_map.h"
#include "v8/heap.h"
#include "v8/heap_objects.h"

namespace nodescope::v8 {

// The class of a JavaScript object, by the rule of V8's own snapshots (JSReceiver::GetConstructorName): the
// function that `new` was called with; else the first Symbol.toStringTag or `constructor` on the way up the
// prototypes.
class ConstructorNames {
 public:
  // What is found of a class; equal numbers are equal names.
  struct Class {
    std::uint32_t name = 0;
    // The function that makes such objects (tagged); 0: not known.
    std::uint64_t constructor = 0;

    bool operator==(const Class&) const = default;
  };

  // `heap` reads what `objects` are of.
  ConstructorNames(Heap& heap, const HeapObjects& objects);

  Class of(const HeapObject& receiver);
  std::string_view name(std::uint32_t number) const { return names_[number]; }

  // Of a closure or of the part that its closures share: its name, else, as V8 shows it, what it was assigned
  // to.
  const std::string& function_name(std::uint64_t function);
  // Without what it was assigned to.
  const std::string& own_function_name(std::uint64_t function);

 private:
  struct OfMap {
    std::optional<Class> by_map;  // of all objects with the map
    Class by_prototypes;
    bool may_have_tag = false;  // an object may have a toStringTag of its own
  };
  struct FunctionNames {
    std::string own;
    std::string shown;
  };

  void find_keys(const HeapObjects& objects);
  OfMap find(const HeapObject& receiver);
  std::optional<Class> from_map(const ObjectShape& shape);
  std::optional<Class> from_prototypes(const ObjectShape& shape);
  Class from_type(const ObjectShape& shape);
  std::uint64_t constructor_of_map(std::uint64_t map);
  // The value of the own data property with exactly this key; 0: there is none.
  std::uint64_t own_value(std::uint64_t receiver, std::uint64_t key);
  std::uint64_t dictionary_value(std::uint64_t properties, std::uint64_t key);
  std::optional<std::string> string(std::uint64_t word);
  std::uint64_t field(std::uint64_t tagged, std::int64_t offset);
  std::uint32_t intern(std::string_view name);
  const FunctionNames& function(std::uint64_t function);

  Heap& heap_;
  const Layout& layout_;
  ObjectShapes& shapes_;
  std::uint64_t constructor_key_ = 0;
  std::uint64_t tag_key_ = 0;
  FlatMap<std::uint64_t, OfMap> by_map_;
  FlatMap<std::uint64_t, FunctionNames> functions_;  // by their shared part
  FlatMap<std::string, std::uint32_t> numbers_;
  std::vector<std::string> names_;
};

}  // namespace nodescope::v8
