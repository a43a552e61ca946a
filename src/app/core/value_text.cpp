#include "app/core/value_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace nodescope {

namespace {

using v8::DecodedValue;
using v8::ValueType;

constexpr std::size_t kSummaryUnits = 120;
constexpr std::size_t kHexRow = 16;

std::string number_text(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number < 0 ? "-Infinity" : "Infinity";
  if (number == 0 && std::signbit(number)) return "-0";
  return fmt::format("{}", number);
}

std::string address_text(Address address) {
  return fmt::format("0x{:x}", address.value);
}

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

std::string quoted(const std::string& text, std::size_t limit) {
  const bool is_cut = text.size() > limit;
  std::string shown = is_cut ? to_valid_utf8(text.substr(0, limit)) : text;
  std::string result = "\"";
  for (const char character : shown) {
    if (character == '"' || character == '\\') result += '\\';
    if (character == '\n') {
      result += "\\n";
    } else {
      result += character;
    }
  }
  return printable(result) + (is_cut ? "…\"" : "\"");
}

std::string primitive_text(const DecodedValue& value, std::size_t string_limit) {
  switch (value.type) {
    case ValueType::kBoolean:
      return value.boolean ? "true" : "false";
    case ValueType::kNumber:
      return number_text(value.number);
    case ValueType::kBigInt:
      return value.text ? *value.text + "n" : "[BigInt]";
    case ValueType::kString:
      if (!value.text) return fmt::format("[string of {} characters, not in memory]", value.text_units);
      return quoted(*value.text, string_limit);
    case ValueType::kSymbol:
      return fmt::format("Symbol({})", printable(value.text.value_or("")));
    case ValueType::kUndefined:
    case ValueType::kNull:
      return std::string(to_string(value.type));
    case ValueType::kInternal:
      return fmt::format("[internal, {}]", value.text.value_or("unknown"));
    case ValueType::kUnreadable:
      return "[not readable]";
    default:
      return fmt::format("[{}]", to_string(value.type));
  }
}

bool is_primitive(ValueType type) {
  return type <= ValueType::kAccessor || type >= ValueType::kInternal;
}

class TextWriter {
 public:
  std::string write(const DecodedValue& value) {
    add(value, 0);
    return std::move(text_);
  }

 private:
  void line(int depth) { text_ += "\n" + std::string(2 * static_cast<std::size_t>(depth), ' '); }

  void add(const DecodedValue& value, int depth) {
    text_ += value_summary(value);
    if (is_primitive(value.type)) return;
    const bool is_empty = value.elements.empty() && value.entries.empty() && value.captured.empty() &&
                          value.properties.empty() && !value.result && !value.stack && !value.bytes;
    if (!value.has_members || is_empty) return;
    if (value.stack) {
      std::string_view rest = *value.stack;
      line(depth + 1);
      text_ += "stack: ";
      for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
        text_ += printable(rest.substr(0, end));
        rest.remove_prefix(end + 1);
        line(depth + 2);
      }
      text_ += printable(rest);
    }
    if (value.bytes && value.type != ValueType::kTypedArray) add_bytes(*value.bytes, depth + 1);
    add_members(value, depth + 1);
  }

  void add_members(const DecodedValue& value, int depth) {
    if (value.result) {
      line(depth);
      text_ += value.type == ValueType::kPromise ? "result: " : "target: ";
      add(*value.result, depth);
    }
    for (std::size_t i = 0; i < value.elements.size(); ++i) {
      line(depth);
      if (value.type == ValueType::kArray) text_ += fmt::format("{}: ", i);
      add(value.elements[i], depth);
    }
    for (const auto& [key, member] : value.entries) {
      line(depth);
      text_ += value_summary(key) + " => ";
      add(member, depth);
    }
    if (value.more_elements != 0) more(value.more_elements, depth);
    for (const v8::NamedValue& property : value.properties) add_named(property, depth, "");
    if (value.more_properties != 0) more(value.more_properties, depth);
    for (const v8::NamedValue& captured : value.captured) add_named(captured, depth, "captured ");
  }

  void add_named(const v8::NamedValue& member, int depth, std::string_view before) {
    line(depth);
    text_ += fmt::format("{}{}: ", before, printable(member.name));
    add(member.value, depth);
  }

  void more(std::uint64_t count, int depth) {
    line(depth);
    text_ += fmt::format("… {} more", with_thousands(count));
  }

  void add_bytes(const std::string& bytes, int depth) {
    for (std::size_t i = 0; i < bytes.size(); i += kHexRow) {
      const std::string row = bytes.substr(i, kHexRow);
      line(depth);
      std::string columns = hex(row);
      std::string shown;
      for (const char character : row) shown += character >= ' ' && character <= '~' ? character : '.';
      text_ += fmt::format("{:<{}}  {}", columns, 2 * kHexRow, shown);
    }
  }

  std::string text_;
};

void write_named(json::Writer& json, std::string_view key, const std::vector<v8::NamedValue>& members) {
  json.key(key).begin_object();
  for (const v8::NamedValue& member : members) {
    json.untrusted_key(member.name);
    write_value(json, member.value);
  }
  json.end_object();
}

void write_list(json::Writer& json, std::string_view key, const std::vector<DecodedValue>& values) {
  json.key(key).begin_array();
  for (const DecodedValue& value : values) write_value(json, value);
  json.end_array();
}

void write_text(json::Writer& json, std::string_view key, const std::optional<std::string>& text) {
  if (text) json.key(key).string(*text);
}

void write_primitive(json::Writer& json, const DecodedValue& value) {
  if (value.type == ValueType::kBoolean) json.key("value").boolean(value.boolean);
  if (value.type == ValueType::kNull) json.key("value").null();
  if (value.type == ValueType::kNumber) {
    json.key("value");
    // JSON has no other numbers.
    std::isfinite(value.number) ? json.number(value.number) : json.string(number_text(value.number));
  }
  write_text(json, "value", value.text);
  if (value.is_text_cut) json.key("length").count(value.text_units);
}

void write_members(json::Writer& json, const DecodedValue& value) {
  const bool has_list = value.type == ValueType::kArray || value.type == ValueType::kTypedArray;
  const bool is_set = value.type == ValueType::kSet || value.type == ValueType::kWeakSet;
  const bool is_map = value.type == ValueType::kMap || value.type == ValueType::kWeakMap;
  if (has_list || (!value.elements.empty() && !is_set)) write_list(json, "elements", value.elements);
  if (is_set) write_list(json, "entries", value.elements);
  if (is_map) {
    json.key("entries").begin_array();
    for (const auto& [key, member] : value.entries) {
      json.begin_array();
      write_value(json, key);
      write_value(json, member);
      json.end_array();
    }
    json.end_array();
  }
  if (value.type == ValueType::kFunction) write_named(json, "captured", value.captured);
  write_named(json, "properties", value.properties);
  if (value.more_properties != 0) json.key("more_properties").count(value.more_properties);
  if (value.more_elements != 0) json.key("more_elements").count(value.more_elements);
}

}  // namespace

std::string value_summary(const DecodedValue& value) {
  if (is_primitive(value.type)) return primitive_text(value, kSummaryUnits);
  std::string text;
  const std::string name = printable(value.class_name.empty() ? "Object" : value.class_name);
  switch (value.type) {
    case ValueType::kFunction:
      text = value.name && !value.name->empty() ? fmt::format("[Function: {}]", printable(*value.name))
                                                : "[Function (anonymous)]";
      if (value.place) text += " " + printable(*value.place);
      break;
    case ValueType::kArray:
      text =
          value.has_members ? fmt::format("{}({})", name, value.elements.size() + value.more_elements) : name;
      break;
    case ValueType::kDate:
    case ValueType::kRegExp:
      text = fmt::format("{} {}", name, printable(value.text.value_or("?")));
      break;
    case ValueType::kError:
      text = printable(value.message && !value.message->empty() ? name + ": " + *value.message : name);
      break;
    case ValueType::kPromise:
      text = fmt::format("{} ({})", name, value.state.value_or("?"));
      break;
    case ValueType::kBuffer:
    case ValueType::kTypedArray:
    case ValueType::kArrayBuffer:
      text = fmt::format("{} of {} bytes", name, with_thousands(value.byte_count));
      break;
    default:
      text = name;
  }
  if (value.address) text += " @" + address_text(*value.address);
  return text;
}

std::string value_text(const DecodedValue& value) {
  if (value.type == ValueType::kString && value.text) return primitive_text(value, value.text->size()) + "\n";
  return TextWriter().write(value) + "\n";
}

void write_value(json::Writer& json, const DecodedValue& value) {
  json.begin_object();
  json.key("type").string(to_string(value.type));
  if (!value.class_name.empty()) json.key("class").string(value.class_name);
  if (value.address) json.key("address").string(address_text(*value.address));
  write_primitive(json, value);
  write_text(json, "name", value.name);
  write_text(json, "place", value.place);
  write_text(json, "message", value.message);
  write_text(json, "stack", value.stack);
  write_text(json, "state", value.state);
  if (value.bytes) {
    json.key("bytes").string(hex(*value.bytes));
    json.key("byte_length").count(value.byte_count);
  }
  if (value.result) {
    json.key(value.type == ValueType::kPromise ? "result" : "target");
    write_value(json, *value.result);
  }
  if (value.has_members) write_members(json, value);
  json.end_object();
}

}  // namespace nodescope
