#include "v8/values.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "base/text.h"
#include "v8/function_name.h"
#include "v8/objects.h"
#include "v8/properties.h"
#include "v8/strings.h"

namespace nodescope::v8 {

namespace {

constexpr std::size_t kMaxStringUnits = 60;
constexpr std::size_t kMaxKeyUnits = 40;
constexpr std::size_t kMaxMembers = 5;  // properties and elements

constexpr std::int64_t kArrayLength = 24;  // behind map, properties and elements, in every version
constexpr std::int64_t kElements = 16;     // of a FixedArray: behind map and length
constexpr std::int64_t kBigIntBits = 8;
constexpr std::int64_t kBigIntDigits = 16;

// A hole in an array of doubles is this NaN (kHoleNanInt64).
constexpr std::uint64_t kHoleNan = 0xFFF7FFFFFFF7FFFF;

// src/objects/elements-kind.h; the same in V8 9 to 14.
enum ElementsKind : std::uint8_t { kPackedDouble = 4, kHoleyDouble = 5, kLastFast = 11 };

std::string number_text(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number < 0 ? "-Infinity" : "Infinity";
  return fmt::format("{}", number);
}

// With quotes, cut, and with its length where it was cut.
std::string string_text(Heap& heap, TaggedWord value, std::size_t max_units) {
  const auto length = string_length(heap, value);
  const auto text = load_string_prefix(heap, value, max_units);
  if (!length) return "?";
  if (!text) return fmt::format("[string of {} characters]", *length);
  std::string quoted = "\"";
  for (const char character : text->to_utf8()) {
    if (character == '"' || character == '\\') quoted += '\\';
    if (character == '\n') {
      quoted += "\\n";
    } else {
      quoted += character;
    }
  }
  if (*length <= max_units) return quoted + "\"";
  return fmt::format("{}…\" ({} characters)", quoted, *length);
}

std::string key_text(Heap& heap, TaggedWord key) {
  if (!heap.is_string(key)) return "[" + describe_value(heap, key) + "]";
  const auto length = string_length(heap, key);
  const auto text = load_string_prefix(heap, key, kMaxKeyUnits);
  if (!length || !text) return "?";
  return text->to_utf8() + (*length > kMaxKeyUnits ? "…" : "");
}

class Describer {
 public:
  explicit Describer(Heap& heap) : heap_(heap), layout_(heap.layout()) {}

  // `with_members`: not within another object.
  std::string describe(TaggedWord value, bool with_members) {
    if (value.is_smi()) return fmt::format("{}", value.smi());
    const int type = heap_.type(value);
    if (type < 0) return "?";
    if (type < layout_.type_first_nonstring.value) return string_text(heap_, value, kMaxStringUnits);
    if (layout_.type_heap_number.is(type)) return heap_number(value);
    if (layout_.type_oddball.is(type)) return oddball(value);
    if (layout_.type_symbol.is(type)) return symbol(value);
    if (is_big_int(type)) return big_int(value);
    if (!layout_.type_js_proxy.known() || type < layout_.type_js_proxy.value) return "[internal]";
    if (layout_.is_function(type)) return function(value);
    if (layout_.type_js_array.is(type)) return array(value, with_members);
    return object(value, type, with_members);
  }

 private:
  std::string heap_number(TaggedWord value) {
    const auto bits = heap_.field(value, layout_.heap_number_value);
    return bits ? number_text(std::bit_cast<double>(bits->value)) : "?";
  }

  std::string oddball(TaggedWord value) {
    const auto kind = heap_.field(value, layout_.oddball_kind);
    if (!kind || !kind->is_smi()) return "?";
    if (layout_.oddball_undefined.is(kind->smi())) return "undefined";
    if (layout_.oddball_null.is(kind->smi())) return "null";
    if (layout_.oddball_true.is(kind->smi())) return "true";
    if (layout_.oddball_false.is(kind->smi())) return "false";
    return "[hole]";  // a variable before its declaration, a value that V8 has optimized away
  }

  std::string symbol(TaggedWord value) {
    const auto name = heap_.field(value, layout_.symbol_name);
    const auto text =
        name && heap_.is_string(*name) ? load_string_prefix(heap_, *name, kMaxKeyUnits) : std::nullopt;
    return fmt::format("Symbol({})", text ? text->to_utf8() : std::string());
  }

  // Between symbols and numbers in V8's list of types; no metadata names it.
  bool is_big_int(int type) const {
    return layout_.type_symbol.known() && type == layout_.type_symbol.value + 1 &&
           layout_.type_heap_number.is(type + 1);
  }

  std::string big_int(TaggedWord value) {
    const auto bits = heap_.memory().load<std::uint32_t>(value.address() + kBigIntBits);
    if (!bits) return "?";
    const std::string sign = (*bits & 1u) != 0 ? "-" : "";
    const std::uint32_t digits = *bits >> 1 & 0x3FFFFFFFu;
    if (digits == 0) return "0n";
    if (digits > 1) return fmt::format("[BigInt of {} bits]", std::uint64_t{digits} * 64);
    const auto digit = heap_.field(value, kBigIntDigits);
    return digit ? fmt::format("{}{}n", sign, digit->value) : "?";
  }

  std::string function(TaggedWord value) {
    const auto shared_word = shared_of_function(heap_, value);
    const auto shared = shared_word ? SharedFunctionInfo::load(heap_, *shared_word) : std::nullopt;
    if (!shared) return "[Function]";
    const std::string name = name_of(heap_, {*shared, value, std::nullopt, false});
    return name.empty() ? "[Function (anonymous)]" : fmt::format("[Function: {}]", name);
  }

  std::optional<std::uint32_t> array_length(TaggedWord value) {
    const auto length = heap_.field(value, kArrayLength);
    if (!length) return std::nullopt;
    if (length->is_smi() && length->smi() >= 0) return static_cast<std::uint32_t>(length->smi());
    return std::nullopt;
  }

  int elements_kind(TaggedWord value) {
    const auto map = heap_.map(value);
    if (!map || !layout_.elements_kind_mask.known() || !layout_.elements_kind_shift.known()) return -1;
    const auto bits = heap_.memory().load<std::uint8_t>(
        map->address() + static_cast<std::uint64_t>(layout_.map_bit_field2.value));
    return bits ? static_cast<int>((*bits & layout_.elements_kind_mask.mask()) >>
                                   layout_.elements_kind_shift.shift())
                : -1;
  }

  std::string array(TaggedWord value, bool with_members) {
    const auto length = array_length(value);
    if (!length) return "Array";
    const auto elements = heap_.field(value, layout_.object_elements);
    const int kind = elements_kind(value);
    if (!with_members || !elements || kind < 0 || kind > kLastFast) return fmt::format("Array({})", *length);
    std::string text = "[";
    for (std::uint32_t i = 0; i < *length; ++i) {
      if (i == kMaxMembers) {
        text += fmt::format(", … {} more", *length - i);
        break;
      }
      const auto word = heap_.field(*elements, kElements + std::int64_t{8} * i);
      if (i > 0) text += ", ";
      text += word ? element(*word, kind) : "?";
    }
    return text + "]";
  }

  std::string element(TaggedWord word, int kind) {
    if (kind != kPackedDouble && kind != kHoleyDouble) return describe(word, false);
    return word.value == kHoleNan ? "[hole]" : number_text(std::bit_cast<double>(word.value));
  }

  std::string object(TaggedWord value, int type, bool with_members) {
    if (layout_.type_js_global_proxy.is(type)) return "globalThis";
    std::string name = class_name(heap_, value);
    if (name.empty()) name = "Object";
    if (layout_.type_js_typed_array.is(type)) {
      const auto bytes = heap_.field(value, layout_.array_buffer_view_bytes);
      return bytes ? fmt::format("{}({} bytes)", name, bytes->value) : name;
    }
    std::string members = with_members ? properties(value) : "…";
    // A Map, a Promise: what it holds is no property.
    if (members.empty() && !layout_.type_js_object.is(type)) return name;
    const std::string braced = "{" + members + "}";
    return name == "Object" ? braced : name + " " + braced;
  }

  std::string properties(TaggedWord value) {
    std::string text;
    std::size_t count = 0;
    for_each_property(heap_, value, [&](const Property& property) {
      if (count == kMaxMembers) {
        text += ", …";
        return false;
      }
      if (count++ > 0) text += ", ";
      text += key_text(heap_, property.key) + ": ";
      text += property.is_accessor ? "[accessor]" : describe(property.value, false);
      return true;
    });
    return text;
  }

  Heap& heap_;
  const Layout& layout_;
};

}  // namespace

std::string describe_value(Heap& heap, TaggedWord value) {
  return Describer(heap).describe(value, true);
}

}  // namespace nodescope::v8
