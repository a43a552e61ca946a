#include "v8/value_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <deque>

#include "v8/error_stack.h"
#include "v8/function_name.h"
#include "v8/objects.h"
#include "v8/properties.h"
#include "v8/strings.h"

namespace nodescope::v8 {

namespace {

constexpr std::size_t kMaxKeyUnits = 200;
constexpr int kMaxContexts = 16;
constexpr std::int64_t kBigIntBits = 8;
constexpr std::int64_t kBigIntDigits = 16;
constexpr std::uint32_t kMaxBigIntDigits = 1024;  // 20,000 decimal digits; converting more takes long

std::string decimal(std::vector<std::uint64_t> digits) {
  __extension__ using Wide = unsigned __int128;
  constexpr std::uint64_t kBase = 10'000'000'000'000'000'000u;  // the largest power of ten in a word
  std::string text;
  while (!digits.empty()) {
    std::uint64_t rest = 0;
    for (std::size_t i = digits.size(); i-- > 0;) {
      const Wide part = static_cast<Wide>(rest) << 64 | digits[i];
      digits[i] = static_cast<std::uint64_t>(part / kBase);
      rest = static_cast<std::uint64_t>(part % kBase);
    }
    while (!digits.empty() && digits.back() == 0) digits.pop_back();
    const std::string piece = digits.empty() ? fmt::format("{}", rest) : fmt::format("{:019}", rest);
    text.insert(0, piece);
  }
  return text.empty() ? "0" : text;
}

std::optional<std::string> big_int_text(Heap& heap, TaggedWord value) {
  const auto bits = heap.memory().load<std::uint32_t>(value.address() + kBigIntBits);
  const std::uint32_t count = bits.value_or(0) >> 1 & 0x3FFFFFFFu;
  if (!bits || count > kMaxBigIntDigits) return std::nullopt;
  std::vector<std::uint64_t> digits(count);
  if (!heap.memory().read(value.address() + kBigIntDigits, std::as_writable_bytes(std::span(digits))))
    return std::nullopt;
  return ((*bits & 1u) != 0 ? "-" : "") + decimal(std::move(digits));
}

std::optional<std::string> string_of(Heap& heap, TaggedWord value, std::size_t units) {
  const auto text = heap.is_string(value) ? load_string_prefix(heap, value, units) : std::nullopt;
  return text ? std::optional(text->to_utf8()) : std::nullopt;
}

}  // namespace

std::string_view to_string(ValueType type) {
  constexpr std::array<std::string_view, 27> kNames = {
      "undefined", "null",     "boolean",  "number",  "bigint",      "string",      "symbol",
      "hole",      "accessor", "function", "array",   "typed-array", "arraybuffer", "buffer",
      "object",    "map",      "set",      "weakmap", "weakset",     "weakref",     "promise",
      "date",      "regexp",   "error",    "proxy",   "internal",    "unreadable"};
  return kNames[static_cast<std::size_t>(type)];
}

namespace {

bool may_have_members(const DecodedValue& value) {
  return value.address && value.type >= ValueType::kFunction && value.type <= ValueType::kProxy;
}

template <typename Visit>
void for_each_member(DecodedValue& value, const Visit& visit) {
  if (value.result) visit(*value.result);
  for (DecodedValue& element : value.elements) visit(element);
  for (MapEntry& entry : value.entries) {
    visit(entry.key);
    visit(entry.value);
  }
  for (NamedValue& property : value.properties) visit(property.value);
  for (NamedValue& captured : value.captured) visit(captured.value);
}

}  // namespace

// Level by level, so that what is near is there when the limit of all values is reached.  What lies deeper
// stays without its members.
DecodedValue ValueDecoder::decode(TaggedWord value, const DecodeLimits& limits) {
  limits_ = limits;
  values_left_ = limits.values;
  DecodedValue root = decode(value.strong(), limits.depth > 0 ? 1 : 0);
  struct Level {
    DecodedValue* value;
    int depth;
  };
  std::deque<Level> waiting{{&root, limits.depth}};
  while (!waiting.empty()) {
    const Level next = waiting.front();
    waiting.pop_front();
    if (next.depth <= 1) continue;
    for_each_member(*next.value, [&](DecodedValue& member) {
      if (!may_have_members(member) || values_left_ == 0) return;
      member = decode(TaggedWord{member.address->value + 1}, 1);
      waiting.push_back({&member, next.depth - 1});
    });
  }
  return root;
}

bool ValueDecoder::is_big_int(int type) const {
  const Layout& layout = heap_.layout();
  return layout.type_symbol.known() && type == layout.type_symbol.value + 1 &&
         layout.type_heap_number.is(type + 1);
}

bool ValueDecoder::is_hole(TaggedWord value) {
  const int type = heap_.type(value);
  if (facts_.type_hole.is(type)) return true;
  if (!heap_.layout().type_oddball.is(type)) return false;
  const auto kind = heap_.field(value, heap_.layout().oddball_kind);
  return kind && kind->is_smi() && facts_.oddball_hole.is(kind->smi());
}

DecodedValue ValueDecoder::decode(TaggedWord value, int depth) {
  values_left_ -= values_left_ > 0 ? 1 : 0;
  if (value.is_smi()) {
    DecodedValue number;
    number.type = ValueType::kNumber;
    number.number = value.smi();
    return number;
  }
  const int type = heap_.type(value);
  if (type < 0) return {};
  const Layout& layout = heap_.layout();
  const bool is_receiver = layout.type_js_proxy.known() && type >= layout.type_js_proxy.value;
  DecodedValue decoded = is_receiver ? DecodedValue() : decode_primitive(value, type);
  // Everybody has the same undefined: where it is says nothing.
  const bool is_singleton = decoded.type == ValueType::kUndefined || decoded.type == ValueType::kNull ||
                            decoded.type == ValueType::kBoolean || decoded.type == ValueType::kHole;
  if (is_receiver || !is_singleton) decoded.address = value.address();
  if (is_receiver) decode_receiver(value, type, depth, decoded);
  return decoded;
}

DecodedValue ValueDecoder::decode_primitive(TaggedWord value, int type) {
  const Layout& layout = heap_.layout();
  DecodedValue into;
  if (type < layout.type_first_nonstring.value) {
    into.type = ValueType::kString;
    into.text = string_of(heap_, value, limits_.string_units);
    into.text_units = string_length(heap_, value).value_or(0);
    into.is_text_cut = into.text && into.text_units > limits_.string_units;
  } else if (layout.type_heap_number.is(type)) {
    const auto bits = heap_.field(value, layout.heap_number_value);
    into.type = bits ? ValueType::kNumber : ValueType::kUnreadable;
    if (bits) into.number = std::bit_cast<double>(bits->value);
  } else if (layout.type_symbol.is(type)) {
    into.type = ValueType::kSymbol;
    const auto name = heap_.field(value, layout.symbol_name);
    into.text = name ? string_of(heap_, *name, limits_.string_units) : std::nullopt;
  } else if (is_big_int(type)) {
    into.type = ValueType::kBigInt;
    into.text = big_int_text(heap_, value);
  } else if (is_hole(value)) {
    into.type = ValueType::kHole;
  } else if (layout.type_oddball.is(type)) {
    const auto kind = heap_.field(value, layout.oddball_kind);
    const std::int64_t number = kind && kind->is_smi() ? kind->smi() : -1;
    into.type = layout.oddball_undefined.is(number)                                 ? ValueType::kUndefined
                : layout.oddball_null.is(number)                                    ? ValueType::kNull
                : layout.oddball_true.is(number) || layout.oddball_false.is(number) ? ValueType::kBoolean
                                                                                    : ValueType::kHole;
    into.boolean = layout.oddball_true.is(number);
  } else if (layout.type_accessor_pair.is(type)) {
    into.type = ValueType::kAccessor;
  } else {
    into.type = ValueType::kInternal;
    into.text = fmt::format("type {}", type);
  }
  return into;
}

std::optional<TaggedWord> ValueDecoder::target_of(TaggedWord value, const Fact& field) {
  const auto word = heap_.field(value, field);
  return word ? std::optional(word->strong()) : std::nullopt;
}

void ValueDecoder::decode_receiver(TaggedWord value, int type, int depth, DecodedValue& into) {
  into.type = ValueType::kObject;
  if (heap_.layout().is_function(type) || facts_.type_bound_function.is(type)) {
    into.type = ValueType::kFunction;
    const auto prototype = prototype_of(heap_, value);
    into.class_name = prototype ? class_name(heap_, *prototype) : std::string();
    if (!into.class_name.ends_with("Function")) into.class_name = "Function";
    add_function(value, depth, into);
    into.has_members = depth > 0;
    if (depth > 0) add_properties(value, depth, into);
    return;
  }
  into.class_name = class_name(heap_, value);
  if (!decode_kind(value, type, depth, into)) decode_collection(value, type, depth, into);
  into.has_members = depth > 0;
  if (depth <= 0) return;
  if (into.type != ValueType::kTypedArray && into.type != ValueType::kBuffer)
    add_elements(value, depth, into);
  if (into.type != ValueType::kProxy) add_properties(value, depth, into);
}

// What is more than an object with properties, but no collection.
bool ValueDecoder::decode_kind(TaggedWord value, int type, int depth, DecodedValue& into) {
  const Layout& layout = heap_.layout();
  if (layout.type_js_array.is(type)) {
    into.type = ValueType::kArray;
  } else if (facts_.type_error.is(type)) {
    into.type = ValueType::kError;
    if (into.class_name.empty()) into.class_name = "Error";
    add_error(value, into);
  } else if (facts_.type_promise.is(type)) {
    into.type = ValueType::kPromise;
    add_promise(value, depth, into);
  } else if (facts_.type_date.is(type)) {
    into.type = ValueType::kDate;
    add_date(value, into);
  } else if (layout.type_js_regexp.is(type)) {
    into.type = ValueType::kRegExp;
    add_regexp(value, into);
  } else if (layout.type_js_typed_array.is(type) || facts_.type_data_view.is(type)) {
    const std::string kind = typed_array_class(value, into.class_name);
    into.type = kind == "Buffer" ? ValueType::kBuffer : ValueType::kTypedArray;
    add_bytes(value, into);
    if (depth > 0 && into.type == ValueType::kTypedArray) add_typed_elements(kind, into);
  } else if (facts_.type_array_buffer.is(type)) {
    into.type = ValueType::kArrayBuffer;
    add_bytes(value, into);
  } else if (layout.type_js_proxy.is(type) || facts_.type_primitive_wrapper.is(type)) {
    const bool is_proxy = layout.type_js_proxy.is(type);
    if (is_proxy) into.type = ValueType::kProxy;
    const auto target = target_of(value, is_proxy ? facts_.proxy_target : facts_.wrapped_value);
    if (target && depth > 0) into.result = std::make_unique<DecodedValue>(decode(*target, depth - 1));
  } else {
    return false;
  }
  return true;
}

void ValueDecoder::add_function(TaggedWord value, int depth, DecodedValue& into) {
  if (facts_.type_bound_function.is(heap_.type(value))) {
    const auto target = target_of(value, facts_.bound_target);
    const auto shared = target ? shared_of_function(heap_, *target) : std::nullopt;
    const auto info = shared ? SharedFunctionInfo::load(heap_, *shared) : std::nullopt;
    into.name = "bound " + (info ? info->name() : std::string());
    return;
  }
  const auto word = shared_of_function(heap_, value);
  const auto shared = word ? SharedFunctionInfo::load(heap_, *word) : std::nullopt;
  if (!shared) return;
  into.name = name_of(heap_, {*shared, value, std::nullopt, false});
  const auto script = shared->script() ? scripts_.load(heap_, *shared->script()) : std::nullopt;
  if (script) {
    into.place = scripts_.name(*script);
    if (const auto place = scripts_.place(*script, shared->start()))
      *into.place += fmt::format(":{}:{}", place->line, place->column);
  }
  if (depth > 0) add_captured(value, depth, into);
}

// Since V8 14 a variable that is assigned to lives in a cell of its own.
TaggedWord ValueDecoder::unwrapped(TaggedWord slot) {
  if (!heap_.is(slot, facts_.type_context_cell)) return slot;
  return heap_.field(slot, 8).value_or(slot);
}

void ValueDecoder::add_captured(TaggedWord function, int depth, DecodedValue& into) {
  auto context = heap_.field(function, facts_.function_context);
  for (int i = 0; i < kMaxContexts && context && context->is_object(); ++i) {
    if (!add_context(*context, depth, into)) return;
    context = heap_.field(*context, facts_.context_slots.value + 8);  // the surrounding one
  }
}

// The variables of a context are its last slots, in the order in which its scope names them.
bool ValueDecoder::add_context(TaggedWord context, int depth, DecodedValue& into) {
  constexpr std::int32_t kMinSlots = 2;  // scope and surrounding context
  constexpr std::int32_t kMaxHeader = 3;
  const auto length = heap_.array_length(context);
  const auto scope = heap_.field(context, facts_.context_slots);
  const auto names = length && scope ? load_context_names(heap_, *scope) : std::nullopt;
  if (!names) return false;
  const auto count = static_cast<std::int32_t>(names->locals.size());
  const std::int32_t first = *length - count - (names->has_function_variable ? 1 : 0);
  if (count == 0) return true;
  if (first < kMinSlots || first > kMaxHeader) return false;
  for (std::int32_t i = 0; i < count; ++i) {
    const std::string& name = names->locals[static_cast<std::size_t>(i)];
    if (name.empty() || name.starts_with('.')) continue;  // V8's own
    if (std::ranges::find(into.captured, name, &NamedValue::name) != into.captured.end()) continue;
    if (is_full(into.captured.size())) return false;
    const auto slot = heap_.field(context, facts_.context_slots.value + std::int64_t{8} * (first + i));
    // The key of a private member.
    if (slot && name.starts_with('#') && heap_.is(*slot, heap_.layout().type_symbol)) continue;
    into.captured.push_back({name, slot ? decode(unwrapped(*slot), depth - 1) : DecodedValue()});
  }
  return true;
}

std::string ValueDecoder::key_name(TaggedWord key) {
  return string_of(heap_, key, kMaxKeyUnits).value_or("?");
}

std::string ValueDecoder::property_name(TaggedWord key) {
  if (key.is_smi()) return fmt::format("{}", key.smi());
  if (heap_.is_string(key)) return key_name(key);
  const auto description = heap_.field(key, heap_.layout().symbol_name);
  const std::string name =
      description ? string_of(heap_, *description, kMaxKeyUnits).value_or("") : std::string();
  return name.starts_with('#') ? name : fmt::format("Symbol({})", name);
}

// A key of V8's own: the mark that an object has private methods, where the stack of an error is.
bool ValueDecoder::is_private_to_v8(TaggedWord key, std::string_view name) {
  constexpr std::uint64_t kFlags = 12;  // after map and hash
  if (name.starts_with('#') || !heap_.is(key, heap_.layout().type_symbol)) return false;
  const auto flags = heap_.memory().load<std::uint32_t>(key.address() + kFlags);
  return flags && (*flags & 1u) != 0;
}

// In the order in which they were added.
void ValueDecoder::add_properties(TaggedWord value, int depth, DecodedValue& into) {
  constexpr std::size_t kMaxOrdered = std::size_t{1} << 22;
  std::vector<Property> properties;
  const bool all = for_each_property(
      heap_, value,
      [&](const Property& property) {
        properties.push_back(property);
        return true;
      },
      kMaxOrdered);
  if (!all) ++into.more_properties;
  std::ranges::stable_sort(properties, {}, &Property::order);
  for (const Property& property : properties) {
    // What V8 computes, such as the length of an array, is seen elsewhere.
    if (property.is_accessor && !heap_.is(property.value, heap_.layout().type_accessor_pair)) continue;
    if (is_full(into.properties.size())) {
      ++into.more_properties;
      continue;
    }
    std::string name = property_name(property.key);
    if (is_private_to_v8(property.key, name)) continue;
    DecodedValue member;
    if (property.is_accessor) {
      member.type = ValueType::kAccessor;
    } else {
      member = decode(property.value, depth - 1);
    }
    into.properties.push_back({std::move(name), std::move(member)});
  }
}

void ValueDecoder::add_promise(TaggedWord value, int depth, DecodedValue& into) {
  constexpr std::array<std::string_view, 3> kStates = {"pending", "fulfilled", "rejected"};
  const auto flags = heap_.field(value, facts_.promise_flags);
  if (!flags || !flags->is_smi() || (flags->smi() & 3) == 3) return;
  const auto state = static_cast<std::size_t>(flags->smi() & 3);
  into.state = kStates[state];
  const auto result = state == 0 ? std::nullopt : heap_.field(value, facts_.promise_result);
  if (result && depth > 0) into.result = std::make_unique<DecodedValue>(decode(*result, depth - 1));
}

void ValueDecoder::add_error(TaggedWord value, DecodedValue& into) {
  if (const auto message = find_data_property(heap_, value, "message"))
    into.message = string_of(heap_, *message, limits_.string_units);
  into.stack = error_stack(heap_, scripts_, value, into.class_name, into.message.value_or(""));
}

}  // namespace nodescope::v8
