#include "v8/request_ids.h"

#include <fmt/format.h>

#include <algorithm>

#include "v8/properties.h"
#include "v8/strings.h"

namespace nodescope::v8 {

namespace {

constexpr DecodeLimits kValue{.depth = 0, .string_units = RequestIds::kMaxUnits};
constexpr DecodeLimits kMembers{.depth = 1, .string_units = RequestIds::kMaxUnits, .members = 1000};

// Before Node.js 24 an AsyncLocalStorage keeps its store in the resource itself, under a symbol of its own.
constexpr std::string_view kStoreSymbol = "kResourceStore";

std::string text_of(const DecodedValue& value) {
  if (value.type == ValueType::kString || value.type == ValueType::kBigInt) return value.text.value_or("");
  return value.type == ValueType::kNumber ? fmt::format("{}", value.number) : std::string();
}

bool is_store_symbol(Heap& heap, TaggedWord key) {
  if (!heap.is(key, heap.layout().type_symbol)) return false;
  const auto name = heap.field(key, heap.layout().symbol_name);
  const auto text =
      name && heap.is_string(*name) ? load_string_prefix(heap, *name, kStoreSymbol.size() + 1) : std::nullopt;
  return text && text->to_utf8() == kStoreSymbol;
}

TaggedWord word_of(const DecodedValue& value) {
  return value.address ? TaggedWord{value.address->value + 1} : TaggedWord{};
}

}  // namespace

const std::string& RequestIds::of(TaggedWord reaction) {
  static const std::string none;
  const auto frame = heap_.field(reaction, layout_.reaction_context);
  const bool has_frame = frame && heap_.is(*frame, layout_.type_map);
  const auto source = has_frame ? frame : heap_.field(reaction, layout_.reaction_promise);
  if (!source || !source->is_object()) return none;
  const auto [known, is_new] = known_.try_emplace(source->value);
  if (is_new) known->second = has_frame ? read_frame(*source) : read_resource(*source);
  return known->second;
}

// Since Node.js 24 what is kept across an await is a Map from each AsyncLocalStorage to its store.
std::string RequestIds::read_frame(TaggedWord frame) {
  const DecodedValue stores = decoder_.decode(frame, kMembers);
  for (const MapEntry& entry : stores.entries) {
    std::string id = text_of(entry.value);
    if (id.empty()) id = id_in_store(word_of(entry.value));
    if (!id.empty()) return id;
  }
  return {};
}

std::string RequestIds::read_resource(TaggedWord resource) {
  std::string id;
  for_each_property(heap_, resource, [&](const Property& property) {
    if (property.is_accessor || !is_store_symbol(heap_, property.key)) return true;
    id = text_of(decoder_.decode(property.value, kValue));
    if (id.empty()) id = id_in_store(property.value);
    return id.empty();
  });
  return id;
}

std::string RequestIds::id_in_store(TaggedWord store) {
  if (!store.is_object()) return {};
  if (heap_.is(store, layout_.type_map)) {
    const DecodedValue map = decoder_.decode(store, kMembers);
    for (const MapEntry& entry : map.entries) {
      if (entry.key.type == ValueType::kString && entry.key.text == property_) return text_of(entry.value);
    }
    return {};
  }
  const auto value = find_data_property(heap_, store, property_);
  return value ? text_of(decoder_.decode(*value, kValue)) : std::string();
}

}  // namespace nodescope::v8
