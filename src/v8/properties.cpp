#include "v8/properties.h"

#include "v8/strings.h"

namespace nodescope::v8 {

namespace {

constexpr int kWordBytes = 8;
constexpr int kArrayHeader = 16;  // map and length
constexpr std::int64_t kEntryWords = 3;

// What is in the details word of a property.
struct Details {
  std::uint32_t value = 0;

  bool is_accessor(const Layout& layout) const { return (value & layout.property_kind_mask.mask()) != 0; }
  bool in_descriptor(const Layout& layout) const {
    return (value & layout.property_location_mask.mask()) != 0;
  }
  // Above kind, constness and three attributes; what lies between is the same for all of a dictionary.
  std::uint32_t order() const { return value >> 5; }
  int field_index(const Layout& layout) const {
    return static_cast<int>((value & layout.property_index_mask.mask()) >>
                            layout.property_index_shift.shift());
  }
};

using Visit = std::function<bool(const Property&)>;

// Objects whose properties their map describes.
class FastProperties {
 public:
  FastProperties(Heap& heap, TaggedWord object, TaggedWord map) : heap_(heap), object_(object), map_(map) {}

  bool visit(std::size_t count, const Visit& visit) {
    const Layout& layout = heap_.layout();
    const auto descriptors = heap_.field(map_, layout.map_descriptors);
    if (!descriptors || (!heap_.is(*descriptors, layout.type_descriptor_array) &&
                         !heap_.is(*descriptors, layout.type_strong_descriptor_array)))
      return true;
    for (std::size_t i = 0; i < count; ++i) {
      const auto property = read(*descriptors, i);
      if (property && !visit(*property)) break;
    }
    return true;
  }

 private:
  std::optional<Property> read(TaggedWord descriptors, std::size_t index) {
    const Layout& layout = heap_.layout();
    const std::int64_t entry =
        layout.descriptors_header.value + static_cast<std::int64_t>(index) * kEntryWords * kWordBytes;
    const auto key = heap_.field(descriptors, entry);
    const auto details = heap_.field(descriptors, entry + kWordBytes);
    if (!key || !details || !details->is_smi()) return std::nullopt;
    const Details flags{static_cast<std::uint32_t>(details->smi())};
    const auto value = flags.in_descriptor(layout) ? heap_.field(descriptors, entry + 2 * kWordBytes)
                                                   : field_value(flags.field_index(layout));
    if (!value) return std::nullopt;
    return Property{*key, flags.is_accessor(layout), value->strong(), 0};
  }

  // The first fields are within the object, the others in an array beside it.
  std::optional<TaggedWord> field_value(int index) {
    const Layout& layout = heap_.layout();
    const auto words = byte_of_map(layout.map_instance_words);
    const auto start = byte_of_map(layout.map_inobject_start);
    if (!words || !start || *start > *words) return std::nullopt;
    const int inside = *words - *start;
    if (index < inside) return heap_.field(object_, std::int64_t{*start + index} * kWordBytes);
    const auto array = heap_.field(object_, layout.object_properties);
    if (!array || !heap_.is(*array, layout.type_property_array)) return std::nullopt;
    return heap_.field(*array, kArrayHeader + std::int64_t{index - inside} * kWordBytes);
  }

  std::optional<std::uint8_t> byte_of_map(const Fact& offset) {
    return heap_.memory().load<std::uint8_t>(map_.address() + static_cast<std::uint64_t>(offset.value));
  }

  Heap& heap_;
  TaggedWord object_;
  TaggedWord map_;
};

// Objects whose properties are in a hash table.
bool visit_dictionary(Heap& heap, TaggedWord object, const Visit& visit, std::size_t limit) {
  const Layout& layout = heap.layout();
  const auto dictionary = heap.field(object, layout.object_properties);
  if (!dictionary || heap.type(*dictionary) < layout.type_first_nonstring.value) return true;
  const auto length = heap.field(*dictionary, kWordBytes);
  if (!length || !length->is_smi()) return true;
  const std::int64_t first = layout.dictionary_prefix_start.value + layout.dictionary_prefix_size.value;
  const std::int64_t entries = (length->smi() - first) / kEntryWords;
  // Half of a hash table is empty.
  const bool all = entries <= static_cast<std::int64_t>(2 * limit);
  for (std::int64_t i = 0; i < entries && all; ++i) {
    const std::int64_t entry = kArrayHeader + (first + i * kEntryWords) * kWordBytes;
    const auto key = heap.field(*dictionary, entry);
    const auto value = heap.field(*dictionary, entry + kWordBytes);
    const auto details = heap.field(*dictionary, entry + 2 * kWordBytes);
    if (!key || !value || !details || !details->is_smi()) continue;
    // Of a deleted entry the hole is left, of one that was never used undefined.
    if (!heap.is_string(*key) && !heap.is(*key, layout.type_symbol)) continue;
    const Details flags{static_cast<std::uint32_t>(details->smi())};
    if (!visit({*key, flags.is_accessor(layout), *value, flags.order()})) break;
  }
  return all;
}

std::optional<std::uint32_t> bit_field3(Heap& heap, TaggedWord map) {
  return heap.memory().load<std::uint32_t>(map.address() +
                                           static_cast<std::uint64_t>(heap.layout().map_bit_field3.value));
}

bool has_dictionary_bit(const Layout& layout, std::uint32_t bit_field3) {
  return (bit_field3 >> layout.is_dictionary_shift.shift() & 1u) != 0;
}

}  // namespace

bool is_dictionary_map(Heap& heap, TaggedWord map) {
  const auto flags = bit_field3(heap, map);
  return flags && has_dictionary_bit(heap.layout(), *flags);
}

bool for_each_property(Heap& heap, TaggedWord object, const Visit& visit, std::size_t limit) {
  const Layout& layout = heap.layout();
  const auto map = heap.map(object);
  if (!map || heap.type(object) < layout.type_first_nonstring.value || heap.is(object, layout.type_js_proxy))
    return true;
  const auto flags = bit_field3(heap, *map);
  if (!flags) return true;
  if (has_dictionary_bit(layout, *flags)) return visit_dictionary(heap, object, visit, limit);
  const std::size_t count =
      (*flags & layout.own_descriptors_mask.mask()) >> layout.own_descriptors_shift.shift();
  return FastProperties(heap, object, *map).visit(count, visit);
}

std::optional<TaggedWord> find_data_property(Heap& heap, TaggedWord object, std::string_view name) {
  std::optional<TaggedWord> found;
  for_each_property(heap, object, [&](const Property& property) {
    if (property.is_accessor) return true;
    const auto key = load_string(heap, property.key, name.size());
    if (!key || key->to_utf8() != name) return true;
    found = property.value;
    return false;
  });
  return found;
}

std::optional<TaggedWord> prototype_of(Heap& heap, TaggedWord object) {
  const auto map = heap.map(object);
  if (!map) return std::nullopt;
  const auto prototype = heap.field(*map, heap.layout().map_prototype);
  if (!prototype || heap.type(*prototype) < 0 || heap.is(*prototype, heap.layout().type_oddball))
    return std::nullopt;
  return prototype;
}

}  // namespace nodescope::v8
