#include "v8/functions.h"

#include "base/hash.h"
#include "v8/function_name.h"
#include "v8/properties.h"

namespace nodescope::v8 {

namespace {

constexpr std::size_t kMaxFoundNames = 256;

// The only name that was ever found; nothing when there are several or none.
std::string only_name(const FlatMap<std::uint64_t, std::string>& names) {
  std::string only;
  for (const auto& [key, name] : names) {
    if (!only.empty() && name != only) return {};
    only = name;
  }
  return only;
}

void remember(Function& function, std::uint64_t key, const std::string& name) {
  if (function.found_names.size() < kMaxFoundNames) function.found_names.emplace(key, name);
}

}  // namespace

// Up to the script; behind that come counters that change.
Function* Functions::find(TaggedWord shared) {
  if (!shared.is_object()) return nullptr;
  const auto bytes = static_cast<std::size_t>(heap_.layout().shared_script.value) + sizeof(TaggedWord);
  return functions_.find(heap_.memory(), shared.address(), bytes, [&] { return read(shared); });
}

std::optional<Function> Functions::read(TaggedWord word) {
  auto shared = SharedFunctionInfo::load(heap_, word);
  if (!shared) return std::nullopt;
  Function function{std::move(*shared), std::nullopt, {}, {}};
  if (function.shared.script()) function.script = scripts_.load(heap_, *function.shared.script());
  const bool is_eval = function.script && scripts_.is_eval(*function.script);
  function.name = name_of(heap_, {function.shared, std::nullopt, std::nullopt, is_eval});
  return function;
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
  if (!map) return only_name(function.found_names);
  const auto constructor = heap_.field(*map, heap_.layout().map_constructor).value_or(TaggedWord{});
  const std::uint64_t key = mix(map->value ^ 0xA0761D6478BD642Fu, constructor.value ^ 0xE7037ED1A0B428DBu);
  const auto known = function.found_names.find(key);
  if (known != function.found_names.end()) return known->second;
  std::string name = name_of(heap_, {function.shared, closure.function, closure.receiver, /*is_eval=*/false});
  if (name.empty()) return only_name(function.found_names);
  remember(function, key, name);
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

std::string Functions::name(Function& function, const std::optional<Closure>& closure) {
  if (closure) {
    std::string own = own_name(function, closure->function);
    if (!own.empty()) return own;
  }
  if (!function.name.empty()) return function.name;
  return closure ? looked_up_name(function, *closure) : only_name(function.found_names);
}

void Functions::begin_generation() {
  functions_.begin_generation();
  own_names_by_map_.clear();
}

}  // namespace nodescope::v8
