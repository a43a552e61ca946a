#include "v8/object_shape.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "v8/scope_info_size.h"

namespace nodescope::v8 {

namespace {

constexpr std::uint64_t kWordBytes = 8;

// Representation and encoding are bits of the instance type of a string.
constexpr int kRepresentationMask = 7;
constexpr int kOneByteBit = 8;
enum Representation : int { kSequential = 0, kCons = 1, kExternal = 2, kSliced = 3, kThin = 5 };

constexpr std::uint64_t align(std::uint64_t bytes, std::uint64_t to) {
  return (bytes + to - 1) / to * to;
}

std::uint64_t word_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  std::uint64_t word = 0;
  if (offset + sizeof word <= bytes.size()) std::memcpy(&word, bytes.data() + offset, sizeof word);
  return word;
}

// A length that cannot be is as long as nothing is, so that its object leads out of every page.
std::uint64_t smi_length(std::uint64_t word) {
  const auto value = static_cast<std::int64_t>(word) >> 32;
  return value < 0 ? ~std::uint64_t{0} / 64 : static_cast<std::uint64_t>(value);
}

// Arrays by their types: the bytes before the elements.
struct ArrayType {
  std::string_view name;
  SizeRule rule;
  std::uint32_t header;
};
constexpr ArrayType kArrayTypes[] = {
    {"WEAK_FIXED_ARRAY_TYPE", SizeRule::kWords, 16},
    {"WEAK_ARRAY_LIST_TYPE", SizeRule::kWords, 24},
    {"EMBEDDER_DATA_ARRAY_TYPE", SizeRule::kWords, 16},
    {"ARRAY_LIST_TYPE", SizeRule::kWords, 24},
    {"CLOSURE_FEEDBACK_CELL_ARRAY_TYPE", SizeRule::kWords, 16},
    {"SCRIPT_CONTEXT_TABLE_TYPE", SizeRule::kWords, 32},
    {"REG_EXP_MATCH_INFO_TYPE", SizeRule::kWords, 40},
    {"SLOPPY_ARGUMENTS_ELEMENTS_TYPE", SizeRule::kWords, 32},
    {"TRUSTED_FIXED_ARRAY_TYPE", SizeRule::kWords, 16},
    {"PROTECTED_FIXED_ARRAY_TYPE", SizeRule::kWords, 16},
    {"PROTECTED_WEAK_FIXED_ARRAY_TYPE", SizeRule::kWords, 16},
    {"TRUSTED_WEAK_FIXED_ARRAY_TYPE", SizeRule::kWords, 16},
    {"FIXED_DOUBLE_ARRAY_TYPE", SizeRule::kWords, 16},
    {"BYTE_ARRAY_TYPE", SizeRule::kBytes, 16},
    {"TRUSTED_BYTE_ARRAY_TYPE", SizeRule::kBytes, 16},
    {"DOUBLE_STRING_CACHE_TYPE", SizeRule::kDoubleStringCache, 16},
    {"PREPARSE_DATA_TYPE", SizeRule::kPreparseData, 16},
    {"SCOPE_INFO_TYPE", SizeRule::kScopeInfo, 0},
    {"PROPERTY_ARRAY_TYPE", SizeRule::kPropertyArray, 16},
    {"WASM_NULL_TYPE", SizeRule::kFixed, 16},
    {"HOLE_TYPE", SizeRule::kFixed, 24},
    {"SWISS_NAME_DICTIONARY_TYPE", SizeRule::kFixed, 40},
};

}  // namespace

ObjectShapes::ObjectShapes(const HeapImage& image, const Layout& layout) : image_(image), layout_(layout) {
  find_types();
  calibrate();
  // What was tried with other numbers is not kept.
  shapes_by_map_.clear();
  shapes_.clear();
  cache_ = {};
}

void ObjectShapes::find_types() {
  const InstanceTypes& names = layout_.instance_types;
  Types& types = types_;
  types.first_nonstring = layout_.type_first_nonstring.value;
  types.symbol = names.find("SYMBOL_TYPE");
  types.bigint = types.symbol + 1;
  types.map = layout_.type_map.value;
  types.fixed_array = names.find("FIXED_ARRAY_TYPE");
  types.byte_array = types.fixed_array_end = names.find("BYTE_ARRAY_TYPE");
  types.fixed_double_array = names.find("FIXED_DOUBLE_ARRAY_TYPE");
  types.first_context = layout_.type_first_context.value;
  types.last_context = layout_.type_last_context.value;
  constexpr int kNativeContext = 7;  // of the contexts, in alphabetical order; V8 9.4 to 14.6
  types.native_context = types.first_context + kNativeContext;
  types.feedback_vector = layout_.type_feedback_vector.value;
  // Not exported; they surround it in V8 9.4 to 14.6.
  types.feedback_metadata = types.feedback_vector - 1;
  types.filler = types.feedback_vector + 1;
  types.free_space = types.feedback_vector + 2;
  types.hole = names.find("HOLE_TYPE");
  types.scope_info = layout_.type_scope_info.value;
  types.bytecode_array = layout_.type_bytecode_array.value;
  types.code = layout_.type_code.value;
  types.instruction_stream =
      layout_.type_instruction_stream.known() ? layout_.type_instruction_stream.value : -1;
  types.descriptor_array = layout_.type_descriptor_array.value;
  types.strong_descriptor_array = layout_.type_strong_descriptor_array.value;
  types.property_array = layout_.type_property_array.value;
  types.weak_fixed_array = names.find("WEAK_FIXED_ARRAY_TYPE");
  types.transition_array = types.weak_fixed_array + 1;
  // Receivers come last, and those of WebAssembly first among them.
  types.first_receiver = names.find("WASM_ARRAY_TYPE");
  if (types.first_receiver < 0) types.first_receiver = names.find("JS_PROXY_TYPE");
  types.heap_number = layout_.type_heap_number.value;
  types.oddball = layout_.type_oddball.value;
  types.allocation_site = names.find("ALLOCATION_SITE_TYPE");
  types.weak_cell = names.find("WEAK_CELL_TYPE");
  types.weak_ref = names.find("JS_WEAK_REF_TYPE");
  for (const ArrayType& array : kArrayTypes) {
    const int type = names.find(array.name);
    if (type >= 0) sizes_by_type_[type] = {array.rule, array.header};
  }
}

// The map of a meta map is itself.
bool ObjectShapes::is_meta_map(std::uint64_t map) {
  const auto known = meta_maps_.find(map);
  if (known != meta_maps_.end()) return known->second;
  const auto type =
      image_.get<std::uint16_t>(map - 1 + static_cast<std::uint64_t>(layout_.map_instance_type.value));
  const bool is = (map & 7) == 1 && image_.get<std::uint64_t>(map - 1) == map && type == types_.map;
  constexpr std::size_t kMaxKnown = 1 << 16;
  if (meta_maps_.size() >= kMaxKnown) meta_maps_.clear();
  meta_maps_.emplace(map, is);
  return is;
}

const ObjectShape* ObjectShapes::find_shape(std::uint64_t map) {
  if ((map & 7) != 1) return nullptr;
  const auto known = shapes_by_map_.find(map);
  if (known != shapes_by_map_.end()) return known->second;
  const auto meta = image_.get<std::uint64_t>(map - 1);
  if (!meta || !is_meta_map(*meta)) return nullptr;
  shapes_.push_back(make_shape(map));
  shapes_by_map_.emplace(map, &shapes_.back());
  return &shapes_.back();
}

ObjectShape ObjectShapes::make_shape(std::uint64_t map) {
  ObjectShape shape;
  shape.map = map;
  const std::uint64_t address = map - 1;
  shape.type =
      image_.get<std::uint16_t>(address + static_cast<std::uint64_t>(layout_.map_instance_type.value))
          .value_or(0);
  shape.is_receiver = is_receiver(shape.type);
  shape.is_filler = shape.type == types_.filler || shape.type == types_.free_space;
  const std::uint8_t words =
      image_.get<std::uint8_t>(address + static_cast<std::uint64_t>(layout_.map_instance_words.value))
          .value_or(0);
  if (shape.type < types_.first_nonstring) {
    set_string_rules(shape);
    return shape;
  }
  if (words != 0) {
    shape.size_rule = SizeRule::kFixed;
    shape.fixed_bytes = words * static_cast<std::uint32_t>(kWordBytes);
  } else {
    set_variable_size(shape);
  }
  set_slots(shape);
  return shape;
}

void ObjectShapes::set_string_rules(ObjectShape& shape) const {
  const int representation = shape.type & kRepresentationMask;
  if (representation == kSequential) {
    shape.size_rule = (shape.type & kOneByteBit) != 0 ? SizeRule::kOneByteString : SizeRule::kTwoByteString;
    return;
  }
  shape.size_rule = SizeRule::kFixed;
  const auto words =
      image_.get<std::uint8_t>(shape.map - 1 + static_cast<std::uint64_t>(layout_.map_instance_words.value));
  shape.fixed_bytes = words.value_or(4) * static_cast<std::uint32_t>(kWordBytes);
  if (representation != kExternal) shape.slot_rule = SlotRule::kLinkedString;
}

void ObjectShapes::set_variable_size(ObjectShape& shape) const {
  const auto set = [&](SizeRule rule, std::uint32_t header) {
    shape.size_rule = rule;
    shape.header_bytes = header;
  };
  const int type = shape.type;
  if (const auto known = sizes_by_type_.find(type); known != sizes_by_type_.end()) {
    set(known->second.first, known->second.second);
    if (shape.size_rule == SizeRule::kFixed) shape.fixed_bytes = shape.header_bytes;
  } else if (is_fixed_array(type) || type == types_.transition_array) {
    set(SizeRule::kWords, 16);
  } else if (is_context(type)) {
    set(SizeRule::kWords, is_native_context(type) ? calibration_.native_context_header : 16);
  } else if (type == layout_.instance_types.find("OBJECT_BOILERPLATE_DESCRIPTION_TYPE")) {
    set(SizeRule::kWords, calibration_.boilerplate_header);
  } else if (type == types_.bytecode_array) {
    set(SizeRule::kBytes, static_cast<std::uint32_t>(layout_.bytecodes.value));
  } else if (type == types_.feedback_metadata) {
    set(SizeRule::kFeedbackMetadata, 16);
  } else if (type == types_.feedback_vector) {
    set(SizeRule::kFeedbackVector, calibration_.feedback_vector_header);
  } else if (type == types_.descriptor_array || type == types_.strong_descriptor_array) {
    set(SizeRule::kDescriptorArray, static_cast<std::uint32_t>(layout_.descriptors_header.value));
  } else if (type == types_.bigint) {
    set(SizeRule::kBigInt, 16);
  } else if (type == types_.free_space) {
    set(SizeRule::kFreeSpace, 0);
  } else if (type == types_.code && !layout_.has_instruction_streams()) {
    set(SizeRule::kOldCode, static_cast<std::uint32_t>(layout_.code_start.value));
  } else if (type == types_.instruction_stream) {
    set(layout_.version < Version{12, 0, 0} ? SizeRule::kStreamOfCode : SizeRule::kInstructionStream, 24);
  } else if (layout_.version >= Version{14, 0, 0} && type == types_.feedback_vector + 3) {
    set(SizeRule::kFixed, 8);  // the hole
    shape.fixed_bytes = 8;
  }
}

void ObjectShapes::set_slots(ObjectShape& shape) const {
  const int type = shape.type;
  const auto is = [&](std::string_view name) { return type == layout_.instance_types.find(name); };
  shape.slot_rule = SlotRule::kAll;
  if (type == types_.heap_number || type == types_.bigint || type == types_.byte_array ||
      type == types_.fixed_double_array || type == types_.feedback_metadata || shape.is_filler ||
      is("TRUSTED_BYTE_ARRAY_TYPE") || is("COVERAGE_INFO_TYPE") || is("FOREIGN_TYPE") ||
      is("TRUSTED_FOREIGN_TYPE") || is("DOUBLE_STRING_CACHE_TYPE"))
    shape.slot_rule = SlotRule::kNone;
  if (type == types_.bytecode_array) shape.slot_rule = SlotRule::kHeader;
  if (shape.size_rule == SizeRule::kPreparseData) shape.slot_rule = SlotRule::kTail;
  if (shape.size_rule == SizeRule::kOldCode || type == types_.instruction_stream)
    shape.slot_rule = SlotRule::kCode;

  if (type == ephemeron_table_type_) shape.weak_rule = WeakRule::kEphemerons;
  if (type == types_.native_context) shape.weak_rule = WeakRule::kNativeContext;
  if (type == types_.weak_cell) {
    shape.weak_rule = WeakRule::kTwoFields;  // target and unregister token
    shape.weak_offset = 16;
  }
  if (type == types_.weak_ref) {
    shape.weak_rule = WeakRule::kOneField;
    shape.weak_offset = 24;
  }
  if (type == types_.allocation_site && shape.fixed_bytes >= 48) {
    shape.weak_rule = WeakRule::kOneField;  // weak_next
    shape.weak_offset = 40;
  }
}

std::uint64_t ObjectShapes::size_of(const ObjectShape& shape, std::span<const std::byte> bytes) const {
  const std::uint64_t second = word_at(bytes, 8);
  const auto low = static_cast<std::uint32_t>(second);
  const auto high = static_cast<std::uint32_t>(second >> 32);
  std::uint64_t size = 0;
  switch (shape.size_rule) {
    case SizeRule::kUnknown:
      return 0;
    case SizeRule::kFixed:
      size = shape.fixed_bytes;
      break;
    case SizeRule::kWords:
      size = shape.header_bytes + kWordBytes * smi_length(second);
      break;
    case SizeRule::kBytes:
      size = align(shape.header_bytes + smi_length(second), kWordBytes);
      break;
    case SizeRule::kOneByteString:
      size = align(16 + std::uint64_t{high}, kWordBytes);
      break;
    case SizeRule::kTwoByteString:
      size = align(16 + 2 * std::uint64_t{high}, kWordBytes);
      break;
    case SizeRule::kPropertyArray:
      size = 16 + kWordBytes * (smi_length(second) & 1023);
      break;
    case SizeRule::kScopeInfo:
      size = scope_info_bytes(bytes, calibration_.scope_info_variant);
      break;
    case SizeRule::kDescriptorArray:
      size = shape.header_bytes + 24 * std::uint64_t{static_cast<std::uint16_t>(second)};
      break;
    case SizeRule::kFeedbackVector:
      size = shape.header_bytes + kWordBytes * low;
      break;
    case SizeRule::kFeedbackMetadata: {
      const std::uint64_t closures = layout_.version >= Version{13, 0, 0} ? 2 * std::uint64_t{high} : 0;
      size = align(16 + 4 * ((std::uint64_t{low} + 5) / 6) + closures, kWordBytes);
      break;
    }
    case SizeRule::kPreparseData:
      size = align(16 + std::uint64_t{low}, kWordBytes) + kWordBytes * high;
      break;
    case SizeRule::kBigInt:
      size = 16 + kWordBytes * (low >> 1 & 0x3FFFFFFF);
      break;
    case SizeRule::kFreeSpace:
      size = calibration_.free_space_unit * smi_length(second);
      break;
    case SizeRule::kDoubleStringCache:
      size = 16 + 16 * std::uint64_t{low};
      break;
    case SizeRule::kOldCode: {
      const std::uint64_t sizes = word_at(bytes, static_cast<std::uint64_t>(layout_.code_size.value));
      const std::uint64_t instructions = (sizes & 0xFFFFFFFF) + (sizes >> 32);
      size = align(shape.header_bytes + instructions, layout_.version < Version{10, 0, 0} ? 32 : 64);
      break;
    }
    case SizeRule::kInstructionStream:
      size = align(32 + std::uint64_t{static_cast<std::uint32_t>(word_at(bytes, shape.header_bytes))}, 64);
      break;
    case SizeRule::kStreamOfCode: {
      const auto code = at_code(second);
      size = code ? align(64 + (*code & 0xFFFFFFFF) + (*code >> 32), 64) : 0;
      break;
    }
  }
  return size >= kWordBytes && size % kWordBytes == 0 && size <= bytes.size() ? size : 0;
}

// Both sizes in the Code object that belongs to an InstructionStream.
std::optional<std::uint64_t> ObjectShapes::at_code(std::uint64_t code) const {
  if ((code & 3) != 1) return std::nullopt;
  return image_.get<std::uint64_t>(code - 1 + static_cast<std::uint64_t>(layout_.code_size.value));
}

}  // namespace nodescope::v8
