#include "v8/wasm_functions.h"

#include <fmt/format.h>

#include "base/byte_reader.h"
#include "base/text.h"

namespace nodescope::v8 {

namespace {

constexpr std::uint32_t kMagic = 0x6D736100;  // "\0asm"

enum Section : std::uint8_t { kCustomSection = 0, kImportSection = 2, kCodeSection = 10 };
enum ImportKind : std::uint8_t { kFunction, kTable, kMemory, kGlobal, kTag };

// In a name section.
constexpr std::uint8_t kFunctionNames = 1;

// In front of the type of a reference that is not one of the short ones.
constexpr std::uint8_t kReference = 0x63;
constexpr std::uint8_t kNullableReference = 0x64;

// Of the limits of a table or memory.
constexpr std::uint8_t kHasMaximum = 1;
constexpr std::uint8_t kHasPageSize = 8;

std::optional<std::string_view> read_text(ByteReader& reader) {
  const auto size = reader.read_varint();
  const auto bytes = size ? reader.take(*size) : std::nullopt;
  return bytes ? std::optional(as_text(*bytes)) : std::nullopt;
}

void skip_type(ByteReader& reader) {
  const auto type = reader.read<std::uint8_t>();
  if (type == kReference || type == kNullableReference) reader.read_varint();
}

void skip_limits(ByteReader& reader) {
  const std::uint8_t flags = reader.read<std::uint8_t>().value_or(0);
  reader.read_varint();
  if ((flags & kHasMaximum) != 0) reader.read_varint();
  if ((flags & kHasPageSize) != 0) reader.read_varint();
}

// False when it is of no known kind.
bool skip_import(ByteReader& reader, std::uint8_t kind) {
  switch (kind) {
    case kFunction:
      reader.read_varint();
      return true;
    case kTable:
      skip_type(reader);
      skip_limits(reader);
      return true;
    case kMemory:
      skip_limits(reader);
      return true;
    case kGlobal:
      skip_type(reader);
      reader.read<std::uint8_t>();
      return true;
    case kTag:
      reader.read<std::uint8_t>();
      reader.read_varint();
      return true;
    default:
      return false;
  }
}

std::optional<std::uint64_t> count_imported_functions(ByteReader reader) {
  const std::uint64_t imports = reader.read_varint().value_or(0);
  std::uint64_t functions = 0;
  for (std::uint64_t i = 0; i < imports && !reader.failed(); ++i) {
    read_text(reader);
    read_text(reader);
    const auto kind = reader.read<std::uint8_t>();
    if (!kind || !skip_import(reader, *kind)) return std::nullopt;
    if (*kind == kFunction) ++functions;
  }
  return reader.failed() ? std::nullopt : std::optional(functions);
}

// `begin` is where the section is in the module.
std::vector<std::uint32_t> read_code_offsets(ByteReader reader, std::size_t begin) {
  std::vector<std::uint32_t> offsets;
  const std::uint64_t functions = reader.read_varint().value_or(0);
  for (std::uint64_t i = 0; i < functions; ++i) {
    const auto size = reader.read_varint();
    const std::size_t offset = begin + reader.offset();
    if (!size || !reader.take(*size)) break;
    offsets.push_back(static_cast<std::uint32_t>(offset));
  }
  return offsets;
}

FlatMap<std::uint64_t, std::string> read_function_names(ByteReader reader) {
  FlatMap<std::uint64_t, std::string> names;
  const std::uint64_t count = reader.read_varint().value_or(0);
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto number = reader.read_varint();
    const auto name = read_text(reader);
    if (!number || !name) break;
    if (!name->empty() && is_valid_utf8(*name)) names.emplace(*number, *name);
  }
  return names;
}

FlatMap<std::uint64_t, std::string> read_names(ByteReader reader) {
  for (;;) {
    const auto kind = reader.read<std::uint8_t>();
    const auto size = reader.read_varint();
    const auto part = size ? reader.take(*size) : std::nullopt;
    if (!part) return {};
    if (*kind == kFunctionNames) return read_function_names(ByteReader(*part));
  }
}

}  // namespace

WasmFunctions WasmFunctions::parse(std::string_view bytes) {
  WasmFunctions functions;
  ByteReader reader(as_byte_span(bytes));
  if (reader.read<std::uint32_t>() != kMagic || !reader.read<std::uint32_t>()) return functions;
  functions.imported_ = 0;
  bool has_names = false;
  for (;;) {
    const auto id = reader.read<std::uint8_t>();
    const auto size = reader.read_varint();
    const std::size_t begin = reader.offset();
    const auto part = size ? reader.take(*size) : std::nullopt;
    if (!part) return functions;
    ByteReader section(*part);
    if (*id == kImportSection) {
      functions.imported_ = count_imported_functions(section);
    } else if (*id == kCodeSection) {
      functions.code_offsets_ = read_code_offsets(section, begin);
    } else if (*id == kCustomSection && !has_names && read_text(section) == "name") {
      has_names = true;
      functions.names_ = read_names(section);
    }
  }
}

std::string WasmFunctions::name(std::uint32_t number) const {
  const auto known = names_.find(number);
  return known != names_.end() ? known->second : fmt::format("wasm-function[{}]", number);
}

std::optional<std::uint32_t> WasmFunctions::code_offset(std::uint32_t number) const {
  if (!imported_ || number < *imported_ || number - *imported_ >= code_offsets_.size()) return std::nullopt;
  return code_offsets_[number - *imported_];
}

}  // namespace nodescope::v8
