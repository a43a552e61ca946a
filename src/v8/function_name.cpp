#include "v8/function_name.h"

#include "v8/properties.h"
#include "v8/strings.h"

namespace nodescope::v8 {

namespace {

// `name` may have been set on the closure: by a computed key, by Object.defineProperty.
std::string own_name(Heap& heap, TaggedWord function) {
  const auto value = find_data_property(heap, function, "name");
  return value && heap.is_string(*value) ? load_name(heap, *value).value_or("") : std::string();
}

std::string shared_name(const SharedFunctionInfo& shared) {
  return shared.name().empty() ? shared.inferred_name() : shared.name();
}

std::string shared_name(Heap& heap, TaggedWord function) {
  const auto word = shared_of_function(heap, function);
  const auto shared = word ? SharedFunctionInfo::load(heap, *word) : std::nullopt;
  return shared ? shared_name(*shared) : std::string();
}

// The constructor in an object's map, behind the maps that it was made from.
std::optional<TaggedWord> constructor_in_map(Heap& heap, TaggedWord map) {
  constexpr int kMaxTransitions = 4096;
  auto constructor = heap.field(map, heap.layout().map_constructor);
  for (int step = 0; step < kMaxTransitions && constructor && heap.is(*constructor, heap.layout().type_map);
       ++step)
    constructor = heap.field(*constructor, heap.layout().map_constructor);
  return constructor && heap.is_function(*constructor) ? constructor : std::nullopt;
}

bool holds(Heap& heap, const Property& property, TaggedWord function) {
  if (!property.is_accessor) return property.value == function;
  const Layout& layout = heap.layout();
  if (!heap.is(property.value, layout.type_accessor_pair)) return false;
  return heap.field(property.value, layout.accessor_getter) == function ||
         heap.field(property.value, layout.accessor_setter) == function;
}

struct Method {
  std::string name;
  TaggedWord holder;  // the receiver, or the one of its prototypes that has it
};

// The only property, own or inherited, whose value is `function`; two of them are none, as in V8.
std::optional<Method> find_method(Heap& heap, TaggedWord receiver, TaggedWord function) {
  std::optional<Method> method;
  bool ambiguous = false;
  std::optional<TaggedWord> object = receiver;
  for (int step = 0; step < kMaxPrototypes && object && !ambiguous; ++step) {
    const bool all = for_each_property(heap, *object, [&](const Property& property) {
      if (!holds(heap, property, function)) return true;
      auto key = load_name(heap, property.key);
      ambiguous = method.has_value() && key.has_value();
      if (key) method = Method{std::move(*key), *object};
      return !ambiguous;
    });
    if (!all) return std::nullopt;
    object = prototype_of(heap, *object);
  }
  return ambiguous ? std::nullopt : method;
}

// Called as a method: not on the global object, undefined or null, nor on a primitive.
bool is_method_call(Heap& heap, TaggedWord receiver) {
  const Layout& layout = heap.layout();
  return heap.type(receiver) >= layout.type_js_proxy.value && layout.type_js_proxy.known() &&
         !heap.is(receiver, layout.type_js_global_proxy);
}

}  // namespace

// The constructor in its map where that is the one that `new` named, else the first "constructor" on the way
// up its prototypes.
std::string class_name(Heap& heap, TaggedWord object) {
  const Layout& layout = heap.layout();
  if (heap.is(object, layout.type_js_proxy)) return "Proxy";
  // A static method: since V8 13 the class, before that "Function".
  if (layout.version >= Version{13, 0, 0} && heap.is_function(object)) {
    std::string name = own_name(heap, object);
    if (name.empty()) name = shared_name(heap, object);
    if (!name.empty()) return name;
  }
  const auto map = heap.map(object);
  if (!map) return {};
  const auto bits = heap.memory().load<std::uint8_t>(map->address() +
                                                     static_cast<std::uint64_t>(layout.map_bit_field2.value));
  const bool new_target_is_base = bits && (*bits & 1u) != 0;
  const auto map_constructor = constructor_in_map(heap, *map);
  const std::string in_map = map_constructor ? shared_name(heap, *map_constructor) : std::string();
  if (new_target_is_base && !in_map.empty() && in_map != "Object") return in_map;
  std::optional<TaggedWord> holder = object;
  for (int step = 0; step < kMaxPrototypes && holder; ++step) {
    const auto constructor = find_data_property(heap, *holder, "constructor");
    if (constructor) {
      std::string name = heap.is_function(*constructor) ? shared_name(heap, *constructor) : std::string();
      if (!name.empty()) return name;
      break;
    }
    holder = prototype_of(heap, *holder);
  }
  return in_map;
}

// V8 counts closures by the map of their feedback cell: none, one, many.  A function of V8 itself, which ends
// the prototypes of every closure, has the cell for many.
bool is_only_closure(Heap& heap, TaggedWord function) {
  const auto cell_map = [&](TaggedWord of) {
    const auto cell = heap.field(of, heap.layout().function_feedback_cell);
    return cell ? heap.map(*cell) : std::nullopt;
  };
  std::optional<TaggedWord> native;
  auto holder = prototype_of(heap, function);
  for (int step = 0; step < kMaxPrototypes && holder; ++step) {
    if (heap.is_function(*holder)) native = holder;
    holder = prototype_of(heap, *holder);
  }
  const auto many = native ? cell_map(*native) : std::nullopt;
  const auto own = cell_map(function);
  return many && own && *many != *own && heap.type_of_map(*many) == heap.type_of_map(*own);
}

std::string name_of(Heap& heap, const Activation& activation) {
  std::string name = activation.function ? own_name(heap, *activation.function) : std::string();
  if (name.empty()) name = shared_name(activation.shared);
  if (!name.empty()) return name;
  if (activation.is_eval) return "eval";
  if (activation.shared.is_class_constructor()) return {};
  if (!activation.receiver || !activation.function || !is_method_call(heap, *activation.receiver)) return {};
  const auto method = find_method(heap, *activation.receiver, *activation.function);
  if (!method) return {};
  const std::string type = class_name(heap, activation.by_holder ? method->holder : *activation.receiver);
  return type.empty() ? std::string() : type + "." + method->name;
}

}  // namespace nodescope::v8
