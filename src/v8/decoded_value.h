#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "binary/address.h"

namespace nodescope::v8 {

enum class ValueType : std::uint8_t {
  kUndefined,
  kNull,
  kBoolean,
  kNumber,
  kBigInt,
  kString,
  kSymbol,
  kHole,
  kAccessor,
  kFunction,
  kArray,
  kTypedArray,
  kArrayBuffer,
  kBuffer,
  kObject,
  kMap,
  kSet,
  kWeakMap,
  kWeakSet,
  kWeakRef,
  kPromise,
  kDate,
  kRegExp,
  kError,
  kProxy,
  kInternal,    // of V8 itself: no value of JavaScript
  kUnreadable,  // not in memory, or damaged
};

// "typed-array".
std::string_view to_string(ValueType type);

struct NamedValue;
struct MapEntry;

// A value of JavaScript, taken out of the memory of a process.  What has members has them down to some depth.
struct DecodedValue {
  ValueType type = ValueType::kUnreadable;
  std::string class_name;  // empty: it has none, or it cannot be told
  std::optional<Address> address;

  // Strings, the descriptions of symbols, bigints, dates in ISO 8601, regular expressions as /x/g; what an
  // internal object is.
  std::optional<std::string> text;
  std::size_t text_units = 0;  // how long a string is
  bool is_text_cut = false;
  double number = 0;
  bool boolean = false;

  std::optional<std::string> name;     // of functions
  std::optional<std::string> place;    // of functions: file:line:column
  std::optional<std::string> message;  // of errors
  std::optional<std::string> stack;
  std::optional<std::string> state;      // of promises
  std::unique_ptr<DecodedValue> result;  // of promises; the targets of weak references and proxies
  std::optional<std::string> bytes;      // of buffers
  std::uint64_t byte_count = 0;          // how many there are

  bool has_members = false;  // false: deeper than was asked for
  std::vector<DecodedValue> elements;
  std::vector<MapEntry> entries;     // of maps
  std::vector<NamedValue> captured;  // of closures
  std::vector<NamedValue> properties;
  std::uint64_t more_elements = 0;
  std::uint64_t more_properties = 0;
};

struct NamedValue {
  std::string name;
  DecodedValue value;
};

struct MapEntry {
  DecodedValue key;
  DecodedValue value;
};

}  // namespace nodescope::v8
