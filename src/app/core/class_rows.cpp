#include "app/core/class_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "v8/properties.h"
#include "v8/strings.h"

namespace nodescope {

namespace {

using IsolateObjects = WalkedHeap::IsolateObjects;

constexpr std::size_t kMaxProperties = 50;  // of a class

constexpr auto kBuiltins = std::to_array<std::string_view>(
    {"Array", "Object", "Function", "Map", "Set", "Promise", "Date", "Error", "ArrayBuffer", "Uint8Array",
     "Buffer", "RegExp", "Symbol", "WeakMap", "WeakRef"});

std::vector<std::string> property_names(WalkedHeap& heap, const v8::HeapObject& object) {
  std::vector<std::string> names;
  if (!object.shape->is_receiver) return names;
  v8::for_each_property(heap.heap(), {object.tagged()}, [&](const v8::Property& property) {
    const v8::Layout& layout = heap.heap().layout();
    // What V8 computes, such as the length of an array.
    if (property.is_accessor && !heap.heap().is(property.value, layout.type_accessor_pair)) return true;
    auto name = v8::load_name(heap.heap(), property.key);
    if (!name && heap.heap().is(property.key, layout.type_symbol)) {
      const auto description = heap.heap().field(property.key, layout.symbol_name);
      name = description ? v8::load_name(heap.heap(), *description) : std::nullopt;
    }
    if (name) names.push_back(*name);
    return names.size() < kMaxProperties;
  });
  return names;
}

// What tables are called that V8's metadata do not name: by the collections that have them.
class TableNames {
 public:
  explicit TableNames(const v8::ValueFacts& facts)
      : owners_{{{facts.type_map.value, "OrderedHashMap"},
                 {facts.type_set.value, "OrderedHashSet"},
                 {facts.type_weak_map.value, "EphemeronHashTable"}}},
        table_(static_cast<std::uint64_t>(facts.collection_table.value)) {}

  void learn(v8::Heap& heap, const v8::HeapObject& object) {
    for (const auto& [type, name] : owners_) {
      if (object.shape->type == type) names_[heap.type({object.word(table_)})] = name;
    }
  }
  std::string_view find(int type) const {
    const auto known = names_.find(type);
    return known == names_.end() ? std::string_view() : known->second;
  }

 private:
  std::array<std::pair<int, std::string_view>, 3> owners_;
  std::uint64_t table_;
  std::map<int, std::string_view> names_;
};

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  return text;
}

}  // namespace

std::string class_of_object(WalkedHeap& heap, IsolateObjects& isolate, const v8::HeapObject& object) {
  if (object.shape->is_receiver) return std::string(isolate.names->name(isolate.names->of(object).name));
  if (object.shape->type < heap.heap().layout().type_first_nonstring.value) return "(string)";
  const std::string_view type = heap.heap().layout().instance_types.class_name(object.shape->type);
  return type.empty() ? fmt::format("(type {})", object.shape->type) : fmt::format("({})", type);
}

// By map first: a heap has some thousand of them, and tens of millions of objects.
std::vector<ClassRow> derive_class_rows(WalkedHeap& heap, IsolateObjects& isolate, bool by_shape) {
  struct OfMap {
    ClassRow* row = nullptr;
    int type = -1;
  };
  std::map<std::tuple<std::string, bool, std::string>, ClassRow> rows;
  FlatMap<std::uint64_t, OfMap> by_map;  // with the lowest bit: live
  TableNames tables(heap.facts());
  for_each_object(isolate, [&](const v8::HeapObject& object, bool is_live) {
    const std::uint64_t key = object.shape->map << 1 | (is_live ? 1u : 0u);
    auto known = by_map.find(key);
    if (known == by_map.end()) {
      std::string name = class_of_object(heap, isolate, object);
      std::vector<std::string> properties = property_names(heap, object);
      tables.learn(heap.heap(), object);
      const auto [row, fresh] = rows.try_emplace({name, is_live, by_shape ? joined(properties) : ""});
      if (fresh) {
        row->second.is_builtin = std::ranges::find(kBuiltins, name) != kBuiltins.end();
        row->second.name = std::move(name);
        row->second.is_receiver = object.shape->is_receiver;
        row->second.is_live = is_live;
        row->second.properties = std::move(properties);
      }
      known = by_map.emplace(key, OfMap{&row->second, object.shape->type}).first;
    }
    ++known->second.row->count;
    known->second.row->shallow_bytes += object.bytes.size();
  });
  for (const auto& [key, of_map] : by_map) {
    if (const std::string_view name = tables.find(of_map.type); !name.empty())
      of_map.row->name = fmt::format("({})", name);
  }
  std::vector<ClassRow> sorted;
  for (auto& [key, row] : rows) sorted.push_back(std::move(row));
  const auto place = [](const ClassRow& row) {
    return std::tuple(!row.is_receiver, ~row.shallow_bytes, row.is_builtin, !row.is_live);
  };
  std::ranges::stable_sort(sorted, {}, place);
  return sorted;
}

}  // namespace nodescope
