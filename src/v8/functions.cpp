#include "v8/functions.h"

#include "base/hash.h"
#include "v8/function_name.h"
#include "v8/properties.h"

namespace nodescope::v8 {

namespace {

constexpr std::size_t kMaxFoundNames = 256;

// So often a name has to be found before it counts for closures that cannot be told apart: V8 may make many
// in one place, each with another name.
constexpr std::uint32_t kSettled = 16;

// The only name that was ever found; nothing when there are several or none.
std::string only_name(const Function& function) {
  std::string only = function.has_plain_closures ? function.name : std::string();
  for (const auto& [key, name] : function.found_names) {
    if (!only.empty() && name != only) return {};
    only = name;
  }
  return only;
}

// What all closures of the function are called, as far as it is certain.
std::string settled_name(const Function& function) {
  if (function.found_names.empty()) return function.name;
  std::string only = function.finds >= kSettled ? only_name(function) : std::string();
  // What they have in common is the source's.
  return only.empty() ? function.shared.name() : only;
}

void remember(Function& function, std::uint64_t key, const std::string& name) {
  if (function.found_names.size() < kMaxFoundNames) function.found_names.emplace(key, name);
}

}  // namespace

// Up to the script; behind that come counters that change.
Function* Functions::find(TaggedWord shared) {
  if (!shared.is_object()) return nullptr;
  const auto bytes = static_cast<std::size_t>(heap_.layout().shared_script.value) + sizeof(TaggedWord);
  Function* function = functions_.find(heap_.memory(), shared.address(), bytes, [&] { return read(shared); });
  // What could not be read of a script may be there by now.
  if (function != nullptr && function->shared.script() && !function->script) find_script(*function);
  return function;
}

std::optional<Function> Functions::read(TaggedWord word) {
  auto shared = SharedFunctionInfo::load(heap_, word);
  if (!shared) return std::nullopt;
  Function function{std::move(*shared), std::nullopt, {}, {}, 0, false};
  find_script(function);
  return function;
}

void Functions::find_script(Function& function) {
  if (function.shared.script()) function.script = scripts_.load(heap_, *function.shared.script());
  const bool is_eval = function.script && scripts_.is_eval(*function.script);
  function.name = name_of(heap_, {function.shared, std::nullopt, std::nullopt, is_eval});
  const bool is_nameless = function.shared.name().empty() && function.shared.inferred_name().empty();
  // All code without a name that was made in one place is one.
  if (is_eval && is_nameless && !scripts_.origin(*function.script).empty())
    function.name = scripts_.origin(*function.script);
}

// Nearly all closures share a few maps, in which `name` is an accessor.
bool Functions::may_have_own_name(TaggedWord closure) {
  const auto map = heap_.map(closure);
  if (!map) return false;
  const auto known = own_names_by_map_.find(map->value);
  if (known != own_names_by_map_.end()) return known->second;
  const bool may = is_dictionary_map(heap_, *map) || find_data_property(heap_, closure, "name").has_value();
  own_names_by_map_.emplace(map->value, may);
  return may;
}

std::string Functions::looked_up_name(Function& function, const Closure& closure) {
  const auto map = closure.receiver ? heap_.map(*closure.receiver) : std::nullopt;
  if (!map) return {};
  const auto constructor = heap_.field(*map, heap_.layout().map_constructor).value_or(TaggedWord{});
  const std::uint64_t key = mix(map->value ^ 0xA0761D6478BD642Fu, constructor.value ^ 0xE7037ED1A0B428DBu);
  const auto known = function.found_names.find(key);
  if (known != function.found_names.end()) return known->second;
  const bool is_sample = closure.function_then.has_value();
  std::string name = name_of(heap_, {function.shared, closure.function, closure.receiver, /*is_eval=*/false,
                                     /*by_holder=*/is_sample});
  if (!name.empty()) remember(function, key, name);
  return name;
}

std::string Functions::own_name(Function& function, TaggedWord closure) {
  if (!may_have_own_name(closure)) return {};
  const auto value = find_data_property(heap_, closure, "name");
  if (!value || !heap_.is_string(*value)) return {};
  std::string name = load_name(heap_, *value).value_or("");
  if (!name.empty()) remember(function, hash_bytes(name.data(), name.size()), name);
  return name;
}

std::string Functions::name_of_closure(Function& function, const Closure& closure) {
  std::string name = own_name(function, closure.function);
  if (name.empty() && function.name.empty()) name = looked_up_name(function, closure);
  if (name.empty()) {
    function.has_plain_closures = !function.name.empty();
    return function.name;
  }
  if (function.finds < kSettled) function.finds += is_only_closure(heap_, closure.function) ? kSettled : 1;
  return name;
}

// A collector may have put another closure of the same function, or another receiver, in the same place.
bool Functions::may_be_another(const Closure& closure) {
  return (closure.function_then && heap_.is_young(*closure.function_then)) ||
         (closure.receiver_then && heap_.is_young(*closure.receiver_then));
}

std::string Functions::name(Function& function, const std::optional<Closure>& closure) {
  if (!closure) return settled_name(function);
  std::string name = name_of_closure(function, *closure);
  // Of nearly all functions no closure has a name of its own.
  if (function.found_names.empty()) return function.name;
  return name.empty() || may_be_another(*closure) ? settled_name(function) : name;
}

void Functions::begin_generation() {
  functions_.begin_generation();
  own_names_by_map_.clear();
}

}  // namespace nodescope::v8
