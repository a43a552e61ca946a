#include "v8/constructor_names.h"

#include <algorithm>

#include "v8/objects.h"
#include "v8/properties.h"
#include "v8/strings.h"

namespace nodescope::v8 {

namespace {

constexpr int kMaxMaps = 4096;  // longer chains of transitions are circles or attacks
constexpr std::int64_t kArrayHeader = 16;
constexpr std::size_t kMaxName = 1024;

// Bits of Map::bit_field2 and bit_field3 in V8 9 to 14.
constexpr std::uint8_t kNewTargetIsBase = 1;
constexpr std::uint32_t kIsPrototypeMap = 1 << 20;

}  // namespace

ConstructorNames::ConstructorNames(Heap& heap, const HeapObjects& objects)
    : heap_(heap), layout_(heap.layout()), shapes_(objects.shapes()) {
  intern("");
  find_keys(objects);
}

// Both keys are in the read-only space, each once.
void ConstructorNames::find_keys(const HeapObjects& objects) {
  const auto is_text = [&](std::uint64_t word, std::string_view text) {
    const auto value = load_string(heap_, TaggedWord{word}, text.size());
    return value && value->to_utf8() == text;
  };
  constexpr std::string_view kConstructor = "constructor";
  objects.for_each([&](std::uint32_t, const HeapObject& object) {
    if (constructor_key_ != 0 && tag_key_ != 0) return;
    const int type = object.shape->type;
    if (type < layout_.type_first_nonstring.value) {
      const bool has_length = (object.word(8) >> 32) == kConstructor.size();
      if (constructor_key_ == 0 && has_length && object.bytes.size() == 32 &&
          is_text(object.tagged(), kConstructor))
        constructor_key_ = object.tagged();
    } else if (layout_.type_symbol.is(type) && tag_key_ == 0 &&
               is_text(object.word(static_cast<std::uint64_t>(layout_.symbol_name.value)),
                       "Symbol.toStringTag")) {
      tag_key_ = object.tagged();
    }
  });
}

std::uint32_t ConstructorNames::intern(std::string_view name) {
  const auto known = numbers_.find(name);
  if (known != numbers_.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(names_.size());
  names_.emplace_back(name);
  numbers_.emplace(names_.back(), number);
  return number;
}

std::uint64_t ConstructorNames::field(std::uint64_t tagged, std::int64_t offset) {
  return heap_.memory()
      .load<std::uint64_t>(Address{tagged - 1 + static_cast<std::uint64_t>(offset)})
      .value_or(0);
}

std::optional<std::string> ConstructorNames::string(std::uint64_t word) {
  if ((word & 3) != 1) return std::nullopt;
  const auto text = load_string_prefix(heap_, TaggedWord{word}, kMaxName);
  return text ? std::optional(text->to_utf8()) : std::nullopt;
}

const ConstructorNames::FunctionNames& ConstructorNames::function(std::uint64_t function) {
  const auto shared = shared_of_function(heap_, TaggedWord{function});
  const std::uint64_t key = shared ? shared->value : function;
  const auto known = functions_.find(key);
  if (known != functions_.end()) return known->second;
  FunctionNames names;
  if (heap_.is(TaggedWord{key}, layout_.type_shared)) {
    const auto name = heap_.field(TaggedWord{key}, layout_.shared_name);
    if (const auto scope = name ? ScopeInfo::load(heap_, *name) : std::nullopt) {
      names.own = scope->name();
      names.shown = scope->inferred_name();
    } else if (name) {
      names.own = string(name->value).value_or("");
    }
    if (!names.own.empty()) {
      names.shown = names.own;
    } else if (names.shown.empty()) {
      // Of a function that was not compiled yet.
      const auto data = heap_.field(TaggedWord{key}, layout_.shared_data);
      const ObjectShape* shape = data && data->is_object() ? shapes_.of_object(data->value - 1) : nullptr;
      if (shape != nullptr && layout_.instance_types.class_name(shape->type).starts_with("UncompiledData"))
        names.shown = string(field(data->value, 8)).value_or("");
    }
  }
  return functions_.emplace(key, std::move(names)).first->second;
}

const std::string& ConstructorNames::function_name(std::uint64_t word) {
  return function(word).shown;
}

const std::string& ConstructorNames::own_function_name(std::uint64_t word) {
  return function(word).own;
}

ConstructorNames::Class ConstructorNames::of(const HeapObject& receiver) {
  auto known = by_map_.find(receiver.shape->map);
  if (known == by_map_.end()) {
    OfMap found = find(receiver);
    known = by_map_.emplace(receiver.shape->map, found).first;
  }
  const OfMap& found = known->second;
  if (found.by_map) return *found.by_map;
  if (found.may_have_tag) {
    const Class by_prototypes = found.by_prototypes;
    if (const auto tag = string(own_value(receiver.tagged(), tag_key_)))
      return {intern(*tag), by_prototypes.constructor};
    return by_prototypes;
  }
  return found.by_prototypes;
}

ConstructorNames::OfMap ConstructorNames::find(const HeapObject& receiver) {
  OfMap found;
  found.by_map = from_map(*receiver.shape);
  if (found.by_map) return found;
  found.by_prototypes = from_prototypes(*receiver.shape).value_or(from_type(*receiver.shape));
  const TaggedWord map{receiver.shape->map};
  found.may_have_tag = is_dictionary_map(heap_, map) || own_value(receiver.tagged(), tag_key_) != 0;
  return found;
}

std::uint64_t ConstructorNames::constructor_of_map(std::uint64_t map) {
  for (int i = 0; i < kMaxMaps; ++i) {
    const std::uint64_t word = field(map, layout_.map_constructor.value);
    const ObjectShape* shape = (word & 3) == 1 ? shapes_.of_object(word - 1) : nullptr;
    if (shape == nullptr) return 0;
    if (layout_.is_function(shape->type)) return word;
    if (shape->type == layout_.instance_types.find("TUPLE2_TYPE")) return field(word, 8);
    if (!layout_.type_map.is(shape->type)) return 0;
    map = word;
  }
  return 0;
}

// Prototypes have Object as their constructor, whatever they are the prototype of.
std::optional<ConstructorNames::Class> ConstructorNames::from_map(const ObjectShape& shape) {
  if (layout_.type_js_proxy.is(shape.type)) return std::nullopt;
  const Address map{shape.map - 1};
  const auto bits2 =
      heap_.memory().load<std::uint8_t>(map + static_cast<std::uint64_t>(layout_.map_bit_field2.value));
  const auto bits3 =
      heap_.memory().load<std::uint32_t>(map + static_cast<std::uint64_t>(layout_.map_bit_field3.value));
  if (!bits2 || !bits3 || (*bits2 & kNewTargetIsBase) == 0 || (*bits3 & kIsPrototypeMap) != 0)
    return std::nullopt;
  const std::uint64_t constructor = constructor_of_map(shape.map);
  if (constructor == 0 || !heap_.is_function(TaggedWord{constructor})) return std::nullopt;
  const std::string& name = function_name(constructor);
  if (name.empty() || name == "Object") return std::nullopt;
  return Class{intern(name), constructor};
}

std::optional<ConstructorNames::Class> ConstructorNames::from_prototypes(const ObjectShape& shape) {
  std::uint64_t holder = field(shape.map, layout_.map_prototype.value);
  for (int step = 0; step < kMaxPrototypes; ++step) {
    const ObjectShape* of_holder = (holder & 3) == 1 ? shapes_.of_object(holder - 1) : nullptr;
    if (of_holder == nullptr || !of_holder->is_receiver) break;
    if (!layout_.type_js_proxy.is(of_holder->type)) {
      if (const auto tag = string(own_value(holder, tag_key_))) return Class{intern(*tag), 0};
      const std::uint64_t constructor = own_value(holder, constructor_key_);
      if (constructor != 0 && heap_.is_function(TaggedWord{constructor})) {
        const std::string& name = function_name(constructor);
        if (!name.empty() && name != "Object") return Class{intern(name), constructor};
      }
    }
    holder = field(of_holder->map, layout_.map_prototype.value);
  }
  return std::nullopt;
}

// JSReceiver::class_name.
ConstructorNames::Class ConstructorNames::from_type(const ObjectShape& shape) {
  const std::string_view type = layout_.instance_types.class_name(shape.type);
  if (layout_.is_function(shape.type) || type == "JSBoundFunction" || type == "JSWrappedFunction")
    return {intern("Function"), 0};
  for (const std::string_view known : {"JSArray", "JSMap", "JSSet", "JSWeakMap", "JSWeakSet", "JSPromise",
                                       "JSDate", "JSDataView", "JSRegExp"}) {
    if (type == known) return {intern(known.substr(2)), 0};
  }
  return {intern("Object"), 0};
}

std::uint64_t ConstructorNames::own_value(std::uint64_t receiver, std::uint64_t key) {
  if (key == 0) return 0;
  const ObjectShape* shape = shapes_.of_object(receiver - 1);
  if (shape == nullptr || !shape->is_receiver) return 0;
  if (is_dictionary_map(heap_, TaggedWord{shape->map}))
    return dictionary_value(field(receiver, layout_.object_properties.value), key);
  std::uint64_t value = 0;
  for_each_property(heap_, TaggedWord{receiver}, [&](const Property& property) {
    if (property.key.value != key) return true;
    if (!property.is_accessor) value = property.value.value;
    return false;
  });
  return value;
}

// Of a NameDictionary, whose entries are key, value and details.
std::uint64_t ConstructorNames::dictionary_value(std::uint64_t properties, std::uint64_t key) {
  const ObjectShape* shape = (properties & 3) == 1 ? shapes_.of_object(properties - 1) : nullptr;
  if (shape == nullptr || !shapes_.is_fixed_array(shape->type)) return 0;
  const auto bytes = shapes_.image().at(properties - 1);
  const std::uint64_t size = shapes_.size_of(*shape, bytes);
  const std::int64_t first = layout_.dictionary_prefix_start.value + layout_.dictionary_prefix_size.value;
  const HeapObject table{properties - 1, shape, bytes.first(size)};
  for (auto offset = static_cast<std::uint64_t>(kArrayHeader + first * 8); offset + 24 <= size;
       offset += 24) {
    if (table.word(offset) != key) continue;
    const auto details = static_cast<std::uint32_t>(table.word(offset + 16) >> 32);
    return (details & layout_.property_kind_mask.mask()) != 0 ? 0 : table.word(offset + 8);
  }
  return 0;
}

}  // namespace nodescope::v8
