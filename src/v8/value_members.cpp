// What the values hold that are more than objects with properties.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "v8/function_name.h"
#include "v8/objects.h"
#include "v8/properties.h"
#include "v8/strings.h"
#include "v8/value_decoder.h"

namespace nodescope::v8 {

namespace {

constexpr std::int64_t kArrayElements = 16;  // after map and length

// A hole in an array of doubles is this NaN (kHoleNanInt64).
constexpr std::uint64_t kHoleNan = 0xFFF7FFFFFFF7FFFF;

// src/objects/elements-kind.h; the same in V8 9 to 14.
enum ElementsKind : std::uint8_t { kPackedDouble = 4, kHoleyDouble = 5, kLastFast = 11 };

// A hash table may claim any size.
constexpr std::int64_t kMaxTableEntries = std::int64_t{1} << 26;

std::string iso_date(double milliseconds) {
  constexpr double kMaxTime = 8.64e15;
  if (std::isnan(milliseconds) || std::abs(milliseconds) > kMaxTime) return "Invalid Date";
  namespace time = std::chrono;
  const time::sys_time<time::milliseconds> moment{
      time::milliseconds(static_cast<std::int64_t>(milliseconds))};
  const auto day = time::floor<time::days>(moment);
  const time::year_month_day date(day);
  const time::hh_mm_ss clock(moment - day);
  const int year = static_cast<int>(date.year());
  const std::string year_text = year >= 0 && year <= 9999
                                    ? fmt::format("{:04}", year)
                                    : fmt::format("{}{:06}", year < 0 ? '-' : '+', std::abs(year));
  return fmt::format("{}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", year_text,
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

template <typename T>
void read_number(const char* bytes, DecodedValue& into) {
  T number;
  std::memcpy(&number, bytes, sizeof number);
  into.number = static_cast<double>(number);
}

template <typename T>
void read_big_number(const char* bytes, DecodedValue& into) {
  T number;
  std::memcpy(&number, bytes, sizeof number);
  into.text = fmt::format("{}", number);
}

// IEEE 754 with half the usual bits.
void read_half(const char* bytes, DecodedValue& into) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, bytes, sizeof bits);
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  double number = std::ldexp(exponent == 0 ? fraction : fraction + 1024, std::max(exponent, 1) - 25);
  if (exponent == 31) number = fraction == 0 ? std::numeric_limits<double>::infinity() : std::nan("");
  into.number = (bits >> 15) != 0 ? -number : number;
}

struct TypedArrayKind {
  std::string_view class_name;
  std::size_t size;
  bool is_big;
  void (*read)(const char* bytes, DecodedValue& into);
};

constexpr TypedArrayKind kTypedArrays[] = {
    {"Int8Array", 1, false, read_number<std::int8_t>},
    {"Uint8Array", 1, false, read_number<std::uint8_t>},
    {"Uint8ClampedArray", 1, false, read_number<std::uint8_t>},
    {"Int16Array", 2, false, read_number<std::int16_t>},
    {"Uint16Array", 2, false, read_number<std::uint16_t>},
    {"Int32Array", 4, false, read_number<std::int32_t>},
    {"Uint32Array", 4, false, read_number<std::uint32_t>},
    {"Float16Array", 2, false, read_half},
    {"Float32Array", 4, false, read_number<float>},
    {"Float64Array", 8, false, read_number<double>},
    {"BigInt64Array", 8, true, read_big_number<std::int64_t>},
    {"BigUint64Array", 8, true, read_big_number<std::uint64_t>},
};

std::string regexp_flags(std::uint32_t bits) {
  constexpr std::pair<std::uint32_t, char> kFlags[] = {{128, 'd'}, {1, 'g'},  {2, 'i'},   {4, 'm'},
                                                       {32, 's'},  {16, 'u'}, {256, 'v'}, {8, 'y'}};
  std::string text;
  for (const auto& [bit, letter] : kFlags) {
    if ((bits & bit) != 0) text += letter;
  }
  return text;
}

}  // namespace

std::optional<std::uint64_t> ValueDecoder::raw(TaggedWord object, const Fact& field) {
  if (!field.known()) return std::nullopt;
  return heap_.memory().load<std::uint64_t>(object.address() + static_cast<std::uint64_t>(field.value));
}

// An element of an array that is no negative number.
std::optional<std::uint32_t> ValueDecoder::smi(TaggedWord array, std::int64_t index) {
  const auto word = heap_.field(array, kArrayElements + 8 * index);
  if (!word || !word->is_smi() || word->smi() < 0) return std::nullopt;
  return static_cast<std::uint32_t>(word->smi());
}

int ValueDecoder::elements_kind(TaggedWord value) {
  const Layout& layout = heap_.layout();
  const auto map = heap_.map(value);
  if (!map || !layout.elements_kind_mask.known() || !layout.elements_kind_shift.known()) return -1;
  const auto bits = heap_.memory().load<std::uint8_t>(
      map->address() + static_cast<std::uint64_t>(layout.map_bit_field2.value));
  return bits ? static_cast<int>((*bits & layout.elements_kind_mask.mask()) >>
                                 layout.elements_kind_shift.shift())
              : -1;
}

DecodedValue ValueDecoder::element(TaggedWord word, int kind, int depth) {
  if (kind != kPackedDouble && kind != kHoleyDouble) return decode(word, depth);
  DecodedValue value;
  value.type = word.value == kHoleNan ? ValueType::kHole : ValueType::kNumber;
  value.number = std::bit_cast<double>(word.value);
  return value;
}

// Arrays have all of theirs, holes too; of other objects those are shown that are there, as properties.
void ValueDecoder::add_elements(TaggedWord value, int depth, DecodedValue& into) {
  const bool is_array = into.type == ValueType::kArray;
  const auto elements = heap_.field(value, heap_.layout().object_elements);
  const int kind = elements_kind(value);
  if (!elements || kind < 0) return;
  const auto capacity = heap_.array_length(*elements).value_or(0);
  if (kind > kLastFast) return add_dictionary_elements(value, depth, into);
  std::int64_t length = capacity;
  if (is_array) {
    const auto word = heap_.field(value, facts_.array_length);
    length = word && word->is_smi() ? word->smi() : 0;
  }
  for (std::int64_t i = 0; i < length; ++i) {
    const std::size_t shown = is_array ? into.elements.size() : into.properties.size();
    if (is_full(shown)) {
      (is_array ? into.more_elements : into.more_properties) += static_cast<std::uint64_t>(length - i);
      return;
    }
    const auto word = i < capacity ? heap_.field(*elements, kArrayElements + 8 * i) : std::nullopt;
    DecodedValue member = word ? element(*word, kind, depth - 1) : DecodedValue();
    if (!word && i >= capacity) member.type = ValueType::kHole;
    if (is_array) {
      into.elements.push_back(std::move(member));
    } else if (member.type != ValueType::kHole) {
      into.properties.push_back({fmt::format("{}", i), std::move(member)});
    }
  }
}

void ValueDecoder::add_dictionary_elements(TaggedWord value, int depth, DecodedValue& into) {
  constexpr std::int64_t kTablePrefix = 3;  // counts of elements, of deleted ones, and the capacity
  constexpr std::int64_t kEntryWords = 3;   // key, value, details
  const auto dictionary = heap_.field(value, heap_.layout().object_elements);
  const auto capacity = dictionary ? smi(*dictionary, 2) : std::nullopt;
  const auto length = dictionary ? heap_.array_length(*dictionary) : std::nullopt;
  if (!capacity || !length || *capacity > kMaxTableEntries) return;
  const std::int64_t first = kTablePrefix + facts_.number_dictionary_prefix.value;
  if (first + kEntryWords * std::int64_t{*capacity} > *length) return;
  std::map<std::uint32_t, TaggedWord> found;
  for (std::int64_t i = 0; i < *capacity; ++i) {
    const std::int64_t entry = kArrayElements + 8 * (first + kEntryWords * i);
    const auto key = heap_.field(*dictionary, entry);
    const auto member = heap_.field(*dictionary, entry + 8);
    if (!key || !member) break;
    if (key->is_smi() && key->smi() >= 0) found.emplace(static_cast<std::uint32_t>(key->smi()), *member);
  }
  if (into.type != ValueType::kArray) {
    for (const auto& [index, member] : found) {
      if (is_full(into.properties.size())) {
        ++into.more_properties;
        continue;
      }
      into.properties.push_back({fmt::format("{}", index), decode(member, depth - 1)});
    }
    return;
  }
  const auto claimed = heap_.field(value, facts_.array_length);
  const std::uint64_t size = claimed && claimed->is_smi() && claimed->smi() >= 0
                                 ? static_cast<std::uint64_t>(claimed->smi())
                                 : (found.empty() ? 0 : std::uint64_t{found.rbegin()->first} + 1);
  for (std::uint32_t i = 0; i < size; ++i) {
    if (is_full(into.elements.size())) {
      into.more_elements = size - i;
      return;
    }
    const auto member = found.find(i);
    DecodedValue hole;
    hole.type = ValueType::kHole;
    into.elements.push_back(member == found.end() ? std::move(hole) : decode(member->second, depth - 1));
  }
}

void ValueDecoder::decode_collection(TaggedWord value, int type, int depth, DecodedValue& into) {
  struct Kind {
    const Fact& fact;
    ValueType type;
    bool is_weak;
    bool has_values;
  };
  const Kind kinds[] = {{facts_.type_map, ValueType::kMap, false, true},
                        {facts_.type_set, ValueType::kSet, false, false},
                        {facts_.type_weak_map, ValueType::kWeakMap, true, true},
                        {facts_.type_weak_set, ValueType::kWeakSet, true, false}};
  for (const Kind& kind : kinds) {
    if (!kind.fact.is(type)) continue;
    into.type = kind.type;
    const auto table = heap_.field(value, facts_.collection_table);
    if (!table || depth <= 0) return;
    return kind.is_weak ? add_weak_entries(*table, kind.has_values, depth, into)
                        : add_entries(*table, kind.has_values, depth, into);
  }
  if (!facts_.type_weak_ref.is(type)) return;
  into.type = ValueType::kWeakRef;
  const auto target = target_of(value, facts_.weak_target);
  if (target && depth > 0) into.result = std::make_unique<DecodedValue>(decode(*target, depth - 1));
}

void ValueDecoder::add_entry(TaggedWord key, std::optional<TaggedWord> value, int depth, DecodedValue& into) {
  if (is_full(into.entries.size() + into.elements.size())) {
    ++into.more_elements;
    return;
  }
  DecodedValue decoded = decode(key.strong(), depth - 1);
  if (value) {
    into.entries.push_back({std::move(decoded), decode(value->strong(), depth - 1)});
  } else {
    into.elements.push_back(std::move(decoded));
  }
}

// OrderedHashTable: counts of elements, deleted ones and buckets; buckets; entries in the order of insertion,
// each with the number of the next in its bucket.
void ValueDecoder::add_entries(TaggedWord table, bool has_values, int depth, DecodedValue& into) {
  const auto elements = smi(table, 0);
  const auto deleted = smi(table, 1);
  const auto buckets = smi(table, 2);
  const auto length = heap_.array_length(table);
  if (!elements || !deleted || !buckets || !length) return;
  const std::int64_t words = has_values ? 3 : 2;
  const std::int64_t used = std::int64_t{*elements} + *deleted;
  for (std::int64_t i = 0; i < used && i < kMaxTableEntries; ++i) {
    const std::int64_t at = 3 + std::int64_t{*buckets} + words * i;
    if (at + words > *length) return;
    const auto key = heap_.field(table, kArrayElements + 8 * at);
    const auto value = has_values ? heap_.field(table, kArrayElements + 8 * (at + 1)) : std::nullopt;
    if (key && !is_hole(*key)) add_entry(*key, value, depth, into);
  }
}

// EphemeronHashTable.
void ValueDecoder::add_weak_entries(TaggedWord table, bool has_values, int depth, DecodedValue& into) {
  const auto capacity = smi(table, 2);
  const auto length = heap_.array_length(table);
  if (!capacity || !length) return;
  for (std::int64_t i = 0; i < *capacity && i < kMaxTableEntries; ++i) {
    const std::int64_t at = 3 + 2 * i;
    if (at + 2 > *length) return;
    const auto key = heap_.field(table, kArrayElements + 8 * at);
    const auto value = has_values ? heap_.field(table, kArrayElements + 8 * (at + 1)) : std::nullopt;
    if (!key || heap_.type(key->strong()) < heap_.layout().type_js_proxy.value) continue;
    add_entry(*key, value, depth, into);
  }
}

// A number as any other, or its bits where V8 has no box for it (since V8 13).
void ValueDecoder::add_date(TaggedWord value, DecodedValue& into) {
  const auto word = heap_.field(value, facts_.date_value);
  if (!word) return;
  double milliseconds = std::bit_cast<double>(word->value);
  if (heap_.is(*word, heap_.layout().type_heap_number)) {
    const auto bits = heap_.field(*word, heap_.layout().heap_number_value);
    if (!bits) return;
    milliseconds = std::bit_cast<double>(bits->value);
  } else if (word->is_smi() && heap_.layout().version < Version{13, 0, 0}) {
    milliseconds = word->smi();
  }
  into.text = iso_date(milliseconds);
}

void ValueDecoder::add_regexp(TaggedWord value, DecodedValue& into) {
  const auto data = heap_.field(value, heap_.layout().js_regexp_data);
  const auto source = data ? heap_.field(*data, heap_.layout().regexp_source) : std::nullopt;
  const auto text = source && heap_.is_string(*source)
                        ? load_string_prefix(heap_, *source, limits_.string_units)
                        : std::nullopt;
  const auto flags = heap_.field(value, facts_.regexp_flags);
  if (!text || !flags || !flags->is_smi()) return;
  into.text = fmt::format("/{}/{}", text->to_utf8(), regexp_flags(static_cast<std::uint32_t>(flags->smi())));
}

void ValueDecoder::add_bytes(TaggedWord value, DecodedValue& into) {
  if (facts_.type_array_buffer.is(heap_.type(value))) {
    const auto size = raw(value, facts_.array_buffer_bytes);
    const auto store = raw(value, facts_.array_buffer_store);
    if (size && store) add_buffer_bytes(Address{*store}, *size, into);
    return;
  }
  const auto size = raw(value, heap_.layout().array_buffer_view_bytes);
  if (facts_.type_data_view.is(heap_.type(value))) {
    const auto buffer = heap_.field(value, facts_.view_buffer);
    const auto offset = raw(value, facts_.view_offset);
    const auto store = buffer && heap_.is(*buffer, facts_.type_array_buffer)
                           ? raw(*buffer, facts_.array_buffer_store)
                           : std::nullopt;
    if (size && offset && store) add_buffer_bytes(Address{*store + *offset}, *size, into);
    return;
  }
  const auto external = raw(value, facts_.typed_external);
  const auto base = heap_.field(value, facts_.typed_base);
  if (!size || !external || !base) return;
  // Small ones are in the heap: the sum of both then is their place.
  add_buffer_bytes(Address{*external + (base->is_smi() ? 0 : base->value)}, *size, into);
}

void ValueDecoder::add_buffer_bytes(Address begin, std::uint64_t size, DecodedValue& into) {
  into.byte_count = size;
  std::string bytes(static_cast<std::size_t>(std::min<std::uint64_t>(size, limits_.bytes)), '\0');
  if (!heap_.memory().read(begin, std::as_writable_bytes(std::span(bytes)))) return;
  into.bytes = std::move(bytes);
  into.more_elements = size - into.bytes->size();
}

// The class of V8 or Node.js that a class of the program extends.
std::string ValueDecoder::typed_array_class(TaggedWord value, const std::string& own_class) {
  std::string name = own_class;
  std::optional<TaggedWord> holder = value;
  for (int step = 0; step < kMaxPrototypes && holder; ++step) {
    if (name == "Buffer" || name == "FastBuffer") return "Buffer";
    if (std::ranges::find(kTypedArrays, name, &TypedArrayKind::class_name) != std::end(kTypedArrays))
      return name;
    holder = prototype_of(heap_, *holder);
    if (holder) name = class_name(heap_, *holder);
  }
  return own_class;
}

void ValueDecoder::add_typed_elements(std::string_view class_name, DecodedValue& into) {
  const auto kind = std::ranges::find(kTypedArrays, class_name, &TypedArrayKind::class_name);
  if (kind == std::end(kTypedArrays) || !into.bytes) return;
  const std::uint64_t count = into.byte_count / kind->size;
  for (std::size_t at = 0; at + kind->size <= into.bytes->size(); at += kind->size) {
    if (into.elements.size() >= limits_.members) break;
    DecodedValue element;
    element.type = kind->is_big ? ValueType::kBigInt : ValueType::kNumber;
    kind->read(into.bytes->data() + at, element);
    into.elements.push_back(std::move(element));
  }
  into.more_elements = count - into.elements.size();
}

}  // namespace nodescope::v8
