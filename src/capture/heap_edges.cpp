#include "capture/heap_edges.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "v8/scope_locals.h"

namespace nodescope {

namespace {

constexpr std::uint64_t kWordBytes = 8;
constexpr std::uint64_t kArrayHeader = 16;
constexpr std::uint64_t kFirstField = 24;  // of an object, after map, properties and elements

constexpr bool is_pointer(std::uint64_t word) {
  return (word & 3) == 1;
}
constexpr bool is_weak(std::uint64_t word) {
  return (word & 3) == 3;
}
constexpr std::int64_t smi(std::uint64_t word) {
  return static_cast<std::int64_t>(word) >> 32;
}

// The fields of objects that have names in snapshots, by V8's types.
struct NamedField {
  std::string_view type;
  std::string_view name;
  std::uint64_t offset;
};
constexpr NamedField kFields[] = {
    {"JSMap", "table", 24},
    {"JSSet", "table", 24},
    {"JSWeakMap", "table", 24},
    {"JSWeakSet", "table", 24},
    {"JSPromise", "reactions_or_result", 24},
    {"JSGeneratorObject", "function", 24},
    {"JSGeneratorObject", "context", 32},
    {"JSGeneratorObject", "receiver", 40},
    {"JSGeneratorObject", "parameters_and_registers", 72},
    {"JSAsyncFunctionObject", "function", 24},
    {"JSAsyncFunctionObject", "context", 32},
    {"JSAsyncFunctionObject", "receiver", 40},
    {"JSAsyncFunctionObject", "parameters_and_registers", 72},
    {"JSAsyncGeneratorObject", "function", 24},
    {"JSAsyncGeneratorObject", "context", 32},
    {"JSAsyncGeneratorObject", "receiver", 40},
    {"JSAsyncGeneratorObject", "parameters_and_registers", 72},
    {"JSTypedArray", "buffer", 24},
    {"JSDataView", "buffer", 24},
    {"Symbol", "name", 16},
    {"Script", "source", 8},
    {"Script", "name", 16},
    {"Script", "context_data", 40},
    {"Script", "line_ends", 56},
    {"AccessorInfo", "name", 16},
    {"AccessorPair", "getter", 8},
    {"AccessorPair", "setter", 16},
    {"Cell", "value", 8},
    {"FeedbackCell", "value", 8},
    {"PropertyCell", "value", 24},
    {"PropertyCell", "dependent_code", 32},
    {"AllocationSite", "transition_info", 8},
    {"AllocationSite", "nested_site", 16},
    {"AllocationSite", "dependent_code", 24},
    {"InstructionStream", "code", 8},
    {"InstructionStream", "relocation_info", 16},
};

}  // namespace

HeapEdges::HeapEdges(v8::Heap& heap, const v8::HeapObjects& objects, HeapTexts& texts)
    : objects_(objects), layout_(heap.layout()), texts_(texts) {}

const v8::ObjectShape* HeapEdges::shape_of(std::uint64_t word) const {
  return is_pointer(word) ? objects_.shapes().of_object(word - 1) : nullptr;
}

v8::HeapObject HeapEdges::load(std::uint64_t word) const {
  static const v8::ObjectShape kNothing;
  const auto object = is_pointer(word) ? objects_.load(word - 1) : std::nullopt;
  return object.value_or(v8::HeapObject{0, &kNothing, {}});
}

void HeapEdges::mark(std::uint64_t offset) {
  if (offset / kWordBytes < visited_.size()) visited_[offset / kWordBytes] = true;
}

void HeapEdges::add(HeapEdgeType type, std::uint32_t name, std::uint64_t word) {
  const std::uint32_t target = objects_.find(word);
  if (target != v8::HeapObjects::kNone) references_.push_back({type, name, target});
}

bool HeapEdges::is_essential(std::uint64_t word) {
  const auto object = objects_.load(word & ~std::uint64_t{3});
  if (!object) return false;
  const int type = object->shape->type;
  if (layout_.type_oddball.is(type)) return false;
  const auto& types = objects_.shapes().types();
  const std::uint32_t page = objects_.shapes().image().page_at(object->address);
  const bool is_read_only = page != v8::HeapImage::kNoPage &&
                            objects_.shapes().image().pages()[page].page.kind == v8::SpaceKind::kReadOnly;
  // In V8 9 some of them are not read-only.
  if (!is_read_only && layout_.version >= v8::Version{10, 0, 0}) return true;
  const auto [known, is_new] = unessential_.try_emplace(object->address, false);
  if (!is_new) return !known->second;
  const auto names = [&](std::string_view name) { return layout_.instance_types.find(name); };
  bool unessential = type == types.hole || object->bytes.size() == kWordBytes;
  if (type == types.fixed_array || type == types.byte_array || type == types.weak_fixed_array)
    unessential = object->bytes.size() == kArrayHeader;
  if (type == types.descriptor_array || type == types.strong_descriptor_array)
    unessential = object->bytes.size() == static_cast<std::uint64_t>(layout_.descriptors_header.value);
  if (type == types.map) {
    const auto described = objects_.shapes().of_map(object->tagged());
    const int of = described == nullptr ? -1 : described->type;
    unessential = of == types.fixed_array || of == names("CELL_TYPE") || of == names("PROPERTY_CELL_TYPE") ||
                  layout_.type_shared.is(of) || of == types.free_space || of == types.filler;
  }
  unessential_[object->address] = unessential;
  return !unessential;
}

void HeapEdges::internal(const v8::HeapObject& object, std::string_view name, std::uint64_t offset) {
  const std::uint64_t word = object.word(offset);
  if (!is_pointer(word) || !is_essential(word)) return;
  add(HeapEdgeType::kInternal, texts_.intern(name), word);
  mark(offset);
}

std::span<const HeapReference> HeapEdges::read(const v8::HeapObject& object) {
  references_.clear();
  visited_.assign(object.bytes.size() / kWordBytes, false);
  const int type = object.shape->type;
  const std::string_view name = layout_.instance_types.class_name(type);
  const auto& types = objects_.shapes().types();
  if (object.shape->is_receiver) {
    // Neither has its properties in snapshots.
    if (name != "JSGlobalProxy" && name != "JSArrayBuffer" && !layout_.type_js_proxy.is(type))
      read_receiver(object, name);
  } else if (type < layout_.type_first_nonstring.value) {
    read_string(object);
  } else if (type == types.map) {
    read_map(object);
  } else if (objects_.shapes().is_context(type)) {
    read_context(object);
  } else if (object.shape->weak_rule != v8::WeakRule::kEphemerons &&
             (objects_.shapes().is_fixed_array(type) || type == types.weak_fixed_array ||
              type == types.transition_array)) {
    if (type != types.transition_array) read_array(object, kArrayHeader);
  } else if (name == "WeakArrayList") {
    read_array(object, kArrayHeader + kWordBytes);
  } else {
    read_named_fields(object, name);
  }
  if (is_essential(object.shape->map)) add(HeapEdgeType::kInternal, texts_.intern("map"), object.shape->map);
  read_rest(object);
  return references_;
}

void HeapEdges::read_named_fields(const v8::HeapObject& object, std::string_view type) {
  for (const NamedField& field : kFields) {
    if (field.type == type) internal(object, field.name, field.offset);
  }
  if (layout_.type_shared.is(object.shape->type)) {
    internal(object, "name_or_scope_info", static_cast<std::uint64_t>(layout_.shared_name.value));
    internal(object, "script", static_cast<std::uint64_t>(layout_.shared_script.value));
    internal(object, "function_data", static_cast<std::uint64_t>(layout_.shared_data.value));
  }
}

// Everything that has no name.
void HeapEdges::read_rest(const v8::HeapObject& object) {
  std::uint32_t next = 0;
  v8::for_each_slot(objects_.shapes(), object, [&](const v8::HeapSlot& slot) {
    if (visited_[slot.offset / kWordBytes] || !is_essential(slot.word)) return;
    if (slot.is_weak) {
      add(HeapEdgeType::kWeak, texts_.number(next++), slot.word);
    } else {
      add(HeapEdgeType::kHidden, next++, slot.word);
    }
  });
}

void HeapEdges::read_receiver(const v8::HeapObject& object, std::string_view type) {
  read_named_fields(object, type);
  read_properties(object);
  read_elements(object);
  const v8::HeapObject map = load(object.shape->map);
  add(HeapEdgeType::kProperty, texts_.intern("__proto__"),
      map.word(static_cast<std::uint64_t>(layout_.map_prototype.value)));
  if (type == "JSBoundFunction") read_bound_function(object);
  if (layout_.is_function(object.shape->type)) read_function(object);
  if (type == "JSGlobalObject") {
    for (const std::uint64_t offset : {kFirstField, kFirstField + kWordBytes}) {
      const v8::ObjectShape* shape = shape_of(object.word(offset));
      if (shape != nullptr && layout_.type_js_global_proxy.is(shape->type))
        internal(object, "global_proxy", offset);
    }
  }
  internal(object, "properties", static_cast<std::uint64_t>(layout_.object_properties.value));
  internal(object, "elements", static_cast<std::uint64_t>(layout_.object_elements.value));
}

void HeapEdges::property(std::uint64_t key, std::uint64_t value, std::uint64_t offset, bool is_data) {
  if (!is_pointer(value)) return;
  const bool is_empty = texts_.is_empty_string(key);
  add(is_empty ? HeapEdgeType::kInternal : HeapEdgeType::kProperty,
      is_data ? texts_.data_key(key) : texts_.key(key), value);
  if (offset != kNoOffset) mark(offset);
}

void HeapEdges::accessor(std::uint64_t key, std::uint64_t pair, std::uint64_t offset) {
  const v8::HeapObject accessors = load(pair);
  if (!layout_.type_accessor_pair.is(accessors.shape->type)) return;
  property(key, pair, offset, false);
  const auto part = [&](std::string_view prefix, const v8::Fact& where) {
    const std::uint64_t function = accessors.word(static_cast<std::uint64_t>(where.value));
    const v8::ObjectShape* shape = shape_of(function);
    if (shape != nullptr && !layout_.type_oddball.is(shape->type))
      add(HeapEdgeType::kProperty, texts_.accessor_key(prefix, key), function);
  };
  part("get ", layout_.accessor_getter);
  part("set ", layout_.accessor_setter);
}

void HeapEdges::read_properties(const v8::HeapObject& object) {
  const v8::HeapObject map = load(object.shape->map);
  const auto bits =
      static_cast<std::uint32_t>(map.word(static_cast<std::uint64_t>(layout_.map_bit_field3.value)));
  if ((bits >> layout_.is_dictionary_shift.shift() & 1) != 0) {
    if (layout_.instance_types.class_name(object.shape->type) == "JSGlobalObject")
      return read_global_dictionary(object);
    return read_dictionary(object);
  }
  const std::size_t count =
      (bits & layout_.own_descriptors_mask.mask()) >> layout_.own_descriptors_shift.shift();
  if (count != 0)
    read_fast_properties(object, map.word(static_cast<std::uint64_t>(layout_.map_descriptors.value)), count);
}

void HeapEdges::read_fast_properties(const v8::HeapObject& object, std::uint64_t descriptors,
                                     std::size_t count) {
  constexpr std::uint64_t kEntryBytes = 24;
  const v8::HeapObject table = load(descriptors);
  const auto& types = objects_.shapes().types();
  if (table.shape->type != types.descriptor_array && table.shape->type != types.strong_descriptor_array)
    return;
  const std::uint64_t map = object.shape->map - 1;
  const auto byte = [&](const v8::Fact& fact) {
    return std::uint64_t{objects_.shapes()
                             .image()
                             .get<std::uint8_t>(map + static_cast<std::uint64_t>(fact.value))
                             .value_or(0)};
  };
  const std::uint64_t start = byte(layout_.map_inobject_start);
  const std::uint64_t words = byte(layout_.map_instance_words);
  const v8::HeapObject properties =
      load(object.word(static_cast<std::uint64_t>(layout_.object_properties.value)));
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t entry =
        static_cast<std::uint64_t>(layout_.descriptors_header.value) + i * kEntryBytes;
    if (entry + kEntryBytes > table.bytes.size()) return;
    const std::uint64_t key = table.word(entry);
    const auto details = static_cast<std::uint32_t>(smi(table.word(entry + 8)));
    const bool is_accessor = (details & layout_.property_kind_mask.mask()) != 0;
    std::uint64_t value = table.word(entry + 16);
    std::uint64_t offset = kNoOffset;
    if ((details & layout_.property_location_mask.mask()) == 0) {
      const std::uint64_t field =
          (details & layout_.property_index_mask.mask()) >> layout_.property_index_shift.shift();
      if (start + field < words) {
        offset = (start + field) * kWordBytes;
        value = object.word(offset);
      } else {
        value = properties.word(kArrayHeader + (start + field - words) * kWordBytes);
      }
      // Numbers with decimals are boxed, and not shown.
      const v8::ObjectShape* shape = shape_of(value);
      if (shape != nullptr && layout_.type_heap_number.is(shape->type) && is_number_field(details)) continue;
    }
    if (is_accessor) {
      accessor(key, value, offset);
    } else {
      property(key, value, offset, false);
    }
  }
}

// Representations are none, Smi, double, and others.
bool HeapEdges::is_number_field(std::uint32_t details) const {
  return layout_.representation_mask.known() &&
         (details & layout_.representation_mask.mask()) >> layout_.representation_shift.shift() ==
             static_cast<std::uint32_t>(layout_.representation_double.value);
}

void HeapEdges::read_dictionary(const v8::HeapObject& object) {
  const v8::HeapObject table = load(object.word(static_cast<std::uint64_t>(layout_.object_properties.value)));
  if (!objects_.shapes().is_fixed_array(table.shape->type)) return;
  const v8::HeapObject map = load(object.shape->map);
  constexpr std::uint32_t kIsPrototypeMap = 1 << 20;
  const auto bits =
      static_cast<std::uint32_t>(map.word(static_cast<std::uint64_t>(layout_.map_bit_field3.value)));
  const bool is_data = (bits & kIsPrototypeMap) == 0;
  const auto first = static_cast<std::uint64_t>(layout_.dictionary_prefix_start.value) +
                     static_cast<std::uint64_t>(layout_.dictionary_prefix_size.value);
  for (std::uint64_t entry = kArrayHeader + first * kWordBytes; entry + 24 <= table.bytes.size();
       entry += 24) {
    const std::uint64_t key = table.word(entry);
    const v8::ObjectShape* shape = shape_of(key);
    if (shape == nullptr ||
        (shape->type >= layout_.type_first_nonstring.value && !layout_.type_symbol.is(shape->type)))
      continue;
    const auto details = static_cast<std::uint32_t>(smi(table.word(entry + 16)));
    if ((details & layout_.property_kind_mask.mask()) != 0) {
      accessor(key, table.word(entry + 8), kNoOffset);
    } else {
      property(key, table.word(entry + 8), kNoOffset, is_data);
    }
  }
}

// Of cells: name, details, value.
void HeapEdges::read_global_dictionary(const v8::HeapObject& object) {
  if (!layout_.global_dictionary.known()) return;
  const v8::HeapObject table = load(object.word(static_cast<std::uint64_t>(layout_.global_dictionary.value)));
  if (!objects_.shapes().is_fixed_array(table.shape->type)) return;
  const int cell_type = layout_.instance_types.find("PROPERTY_CELL_TYPE");
  for (std::uint64_t offset = kArrayHeader; offset + 8 <= table.bytes.size(); offset += 8) {
    const v8::HeapObject cell = load(table.word(offset));
    if (cell.shape->type != cell_type) continue;
    const auto details = static_cast<std::uint32_t>(smi(cell.word(16)));
    if ((details & layout_.property_kind_mask.mask()) != 0) {
      accessor(cell.word(8), cell.word(24), kNoOffset);
    } else {
      property(cell.word(8), cell.word(24), kNoOffset, false);
    }
  }
}

void HeapEdges::read_elements(const v8::HeapObject& object) {
  constexpr std::uint32_t kLastObjectKind = 3;
  const v8::HeapObject elements =
      load(object.word(static_cast<std::uint64_t>(layout_.object_elements.value)));
  if (!objects_.shapes().is_fixed_array(elements.shape->type)) return;
  const auto bits = objects_.shapes().image().get<std::uint8_t>(
      object.shape->map - 1 + static_cast<std::uint64_t>(layout_.map_bit_field2.value));
  const std::uint32_t kind =
      (bits.value_or(0) & layout_.elements_kind_mask.mask()) >> layout_.elements_kind_shift.shift();
  if (kind <= kLastObjectKind) {
    std::uint64_t length = (elements.bytes.size() - kArrayHeader) / kWordBytes;
    if (layout_.type_js_array.is(object.shape->type)) {
      const std::int64_t own = smi(object.word(kFirstField));
      length = std::min<std::uint64_t>(length, own < 0 ? 0 : static_cast<std::uint64_t>(own));
    }
    for (std::uint64_t i = 0; i < length; ++i) {
      const std::uint64_t word = elements.word(kArrayHeader + i * kWordBytes);
      if (!is_pointer(word)) continue;
      const v8::ObjectShape* shape = shape_of(word);
      if (shape != nullptr && !is_hole(word, *shape))
        add(HeapEdgeType::kElement, static_cast<std::uint32_t>(i), word);
    }
    return;
  }
  if (!layout_.dictionary_elements.is(kind)) return;
  constexpr std::uint64_t kFirst = kArrayHeader + 4 * kWordBytes;  // a prefix of one word
  for (std::uint64_t entry = kFirst; entry + 24 <= elements.bytes.size(); entry += 24) {
    const std::uint64_t key = elements.word(entry);
    if ((key & 0xFFFFFFFF) != 0 || smi(key) < 0) continue;
    if (is_pointer(elements.word(entry + 8)))
      add(HeapEdgeType::kElement, static_cast<std::uint32_t>(smi(key)), elements.word(entry + 8));
  }
}

// The hole is an oddball, or a type of its own from V8 12 on.
bool HeapEdges::is_hole(std::uint64_t word, const v8::ObjectShape& shape) const {
  constexpr int kTheHole = 2;
  if (shape.type == objects_.shapes().types().hole) return true;
  if (!layout_.type_oddball.is(shape.type))
    return layout_.version >= v8::Version{14, 0, 0} && shape.fixed_bytes == kWordBytes;
  return layout_.oddball_kind.known() &&
         smi(load(word).word(static_cast<std::uint64_t>(layout_.oddball_kind.value))) == kTheHole;
}

void HeapEdges::read_bound_function(const v8::HeapObject& object) {
  internal(object, "bindings", 40);
  internal(object, "bound_this", 32);
  internal(object, "bound_function", 24);
  const v8::HeapObject arguments = load(object.word(40));
  if (!objects_.shapes().is_fixed_array(arguments.shape->type)) return;
  std::uint32_t index = 0;
  for (std::uint64_t offset = kArrayHeader; offset + 8 <= arguments.bytes.size(); offset += 8, ++index) {
    if (is_pointer(arguments.word(offset)))
      add(HeapEdgeType::kShortcut, texts_.intern(fmt::format("bound_argument_{}", index)),
          arguments.word(offset));
  }
}

void HeapEdges::read_function(const v8::HeapObject& object) {
  if (layout_.function_prototype.known()) {
    const auto offset = static_cast<std::uint64_t>(layout_.function_prototype.value);
    const std::uint64_t word = offset < object.bytes.size() ? object.word(offset) : 0;
    const v8::ObjectShape* shape = shape_of(word);
    if (shape != nullptr && layout_.type_map.is(shape->type)) {
      add(HeapEdgeType::kProperty, texts_.intern("prototype"),
          load(word).word(static_cast<std::uint64_t>(layout_.map_prototype.value)));
      internal(object, "initial_map", offset);
    } else if (shape != nullptr && shape->is_receiver) {
      add(HeapEdgeType::kProperty, texts_.intern("prototype"), word);
      mark(offset);
    }
  }
  if (layout_.function_feedback_cell.known())
    internal(object, "feedback_cell", static_cast<std::uint64_t>(layout_.function_feedback_cell.value));
  internal(object, "shared", static_cast<std::uint64_t>(layout_.function_shared.value));
  if (layout_.function_context.known())
    internal(object, "context", static_cast<std::uint64_t>(layout_.function_context.value));
}

void HeapEdges::read_string(const v8::HeapObject& object) {
  constexpr int kRepresentationMask = 7;
  switch (object.shape->type & kRepresentationMask) {
    case 1:
      internal(object, "first", 16);
      internal(object, "second", 24);
      return;
    case 3:
      return internal(object, "parent", 16);
    case 5:
      return internal(object, "actual", 16);
    default:
      return;
  }
}

void HeapEdges::read_map(const v8::HeapObject& object) {
  if (layout_.map_transitions.known()) {
    const auto offset = static_cast<std::uint64_t>(layout_.map_transitions.value);
    const std::uint64_t word = object.word(offset);
    const v8::ObjectShape* shape = shape_of(word & ~std::uint64_t{2});
    if (is_weak(word)) {
      if (is_essential(word)) add(HeapEdgeType::kWeak, texts_.intern("transition"), word);
      mark(offset);
    } else if (shape != nullptr) {
      const auto& types = objects_.shapes().types();
      internal(object,
               shape->type == types.transition_array           ? "transitions"
               : objects_.shapes().is_fixed_array(shape->type) ? "transition"
                                                               : "prototype_info",
               offset);
    }
  }
  internal(object, "descriptors", static_cast<std::uint64_t>(layout_.map_descriptors.value));
  internal(object, "prototype", static_cast<std::uint64_t>(layout_.map_prototype.value));
  const auto constructor = static_cast<std::uint64_t>(layout_.map_constructor.value);
  const v8::ObjectShape* shape = shape_of(object.word(constructor));
  if (shape != nullptr) {
    const bool is_context = objects_.shapes().is_context(shape->type);
    internal(object,
             is_context                                     ? "native_context"
             : shape->type == objects_.shapes().types().map ? "back_pointer"
                                                            : "constructor",
             constructor);
  }
  if (layout_.map_dependent_code.known())
    internal(object, "dependent_code", static_cast<std::uint64_t>(layout_.map_dependent_code.value));
}

void HeapEdges::read_array(const v8::HeapObject& object, std::uint64_t first) {
  std::uint32_t index = 0;
  for (std::uint64_t offset = first; offset + 8 <= object.bytes.size(); offset += 8, ++index) {
    const std::uint64_t word = object.word(offset);
    if ((word & 1) == 0 || !is_essential(word)) continue;
    add(is_weak(word) ? HeapEdgeType::kWeak : HeapEdgeType::kInternal, texts_.number(index), word);
    mark(offset);
  }
}

// Variables of closures: the scope's names are in the order of the slots.
void HeapEdges::read_context(const v8::HeapObject& object) {
  constexpr std::uint64_t kScopeInfo = kArrayHeader;
  constexpr std::uint64_t kPrevious = kArrayHeader + 8;
  constexpr unsigned kHasExtension = 26;
  if (!objects_.shapes().is_native_context(object.shape->type)) {
    const v8::HeapObject scope = load(object.word(kScopeInfo));
    if (layout_.type_scope_info.is(scope.shape->type)) {
      const auto names = v8::scope_local_names(scope, layout_.version, objects_);
      const std::uint64_t first = kArrayHeader + (2 + (names.flags >> kHasExtension & 1)) * kWordBytes;
      for (const auto& [name, index] : names.locals) {
        const std::uint64_t offset = first + index * kWordBytes;
        const std::uint64_t value = offset + 8 <= object.bytes.size() ? object.word(offset) : 0;
        if (!is_pointer(value)) continue;
        add(HeapEdgeType::kContext, texts_.key(name), value);
        mark(offset);
      }
    }
  }
  internal(object, "scope_info", kScopeInfo);
  internal(object, "previous", kPrevious);
}

std::optional<NativeMemory> HeapEdges::native_memory(const v8::HeapObject& object) const {
  if (layout_.instance_types.class_name(object.shape->type) != "JSArrayBuffer" ||
      !layout_.array_buffer_bytes.known() || !layout_.array_buffer_store.known())
    return std::nullopt;
  const std::uint64_t store = object.word(static_cast<std::uint64_t>(layout_.array_buffer_store.value));
  const std::uint64_t bytes = object.word(static_cast<std::uint64_t>(layout_.array_buffer_bytes.value));
  constexpr std::uint64_t kUserSpaceEnd = std::uint64_t{1} << 47;
  if (store == 0 || bytes >= kUserSpaceEnd) return std::nullopt;
  return NativeMemory{store, bytes, "system / JSArrayBufferData"};
}

}  // namespace nodescope
