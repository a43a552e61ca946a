#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "v8/decoded_value.h"
#include "v8/heap.h"
#include "v8/scripts.h"
#include "v8/value_facts.h"

namespace nodescope::v8 {

struct DecodeLimits {
  int depth = 1;                     // of objects within objects; 0: none of its members
  std::size_t string_units = 10000;  // longer strings are cut
  std::size_t members = 100;         // of each object
  std::size_t bytes = 1024;          // of each buffer
  std::size_t values = 100'000;      // of all: a tree of arrays of arrays grows with each level
};

// Takes values out of the memory of a process that stands still.  Nothing in it is trusted: the work is
// bounded by the limits, and what cannot be read is kUnreadable.
class ValueDecoder {
 public:
  ValueDecoder(Heap& heap, const ValueFacts& facts, Scripts& scripts)
      : heap_(heap), facts_(facts), scripts_(scripts) {}

  DecodedValue decode(TaggedWord value, const DecodeLimits& limits);

 private:
  // With the members that it has itself, where `depth` is not 0; these then are without theirs.
  DecodedValue decode(TaggedWord value, int depth);
  // No more members are decoded of what has so many.
  bool is_full(std::size_t members) const { return members >= limits_.members || values_left_ == 0; }
  DecodedValue decode_primitive(TaggedWord value, int type);
  void decode_receiver(TaggedWord value, int type, int depth, DecodedValue& into);
  bool decode_kind(TaggedWord value, int type, int depth, DecodedValue& into);
  void decode_collection(TaggedWord value, int type, int depth, DecodedValue& into);

  void add_function(TaggedWord value, int depth, DecodedValue& into);
  void add_captured(TaggedWord function, int depth, DecodedValue& into);
  bool add_context(TaggedWord context, int depth, DecodedValue& into);
  void add_elements(TaggedWord value, int depth, DecodedValue& into);
  void add_dictionary_elements(TaggedWord dictionary, int depth, DecodedValue& into);
  void add_properties(TaggedWord value, int depth, DecodedValue& into);
  void add_entries(TaggedWord table, bool has_values, int depth, DecodedValue& into);
  void add_weak_entries(TaggedWord table, bool has_values, int depth, DecodedValue& into);
  void add_promise(TaggedWord value, int depth, DecodedValue& into);
  void add_date(TaggedWord value, DecodedValue& into);
  void add_regexp(TaggedWord value, DecodedValue& into);
  void add_error(TaggedWord value, DecodedValue& into);
  void add_bytes(TaggedWord value, DecodedValue& into);
  std::string typed_array_class(TaggedWord value, const std::string& own_class);
  void add_typed_elements(std::string_view class_name, DecodedValue& into);
  void add_buffer_bytes(Address begin, std::uint64_t size, DecodedValue& into);
  void add_entry(TaggedWord key, std::optional<TaggedWord> value, int depth, DecodedValue& into);

  DecodedValue element(TaggedWord word, int kind, int depth);
  std::string property_name(TaggedWord key);
  bool is_private_to_v8(TaggedWord key, std::string_view name);
  std::string key_name(TaggedWord key);
  TaggedWord unwrapped(TaggedWord context_slot);
  std::optional<TaggedWord> target_of(TaggedWord value, const Fact& field);
  std::optional<std::uint64_t> raw(TaggedWord object, const Fact& field);
  std::optional<std::uint32_t> smi(TaggedWord array, std::int64_t index);
  int elements_kind(TaggedWord value);
  bool is_hole(TaggedWord value);
  bool is_big_int(int type) const;

  Heap& heap_;
  const ValueFacts& facts_;
  Scripts& scripts_;
  DecodeLimits limits_ = {};
  std::size_t values_left_ = 0;
};

}  // namespace nodescope::v8
