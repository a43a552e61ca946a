#include "capture/heap_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "v8/strings.h"

namespace nodescope {

namespace {

constexpr std::size_t kMaxNameUnits = 1024;  // as V8 cuts them

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// Of a sequential string of one-byte characters that are ASCII; empty: another kind.
std::string_view plain_text(const v8::HeapObject& string) {
  constexpr int kKindMask = 15;
  constexpr int kSequentialOneByte = 8;
  if ((string.shape->type & kKindMask) != kSequentialOneByte) return {};
  const std::uint64_t length = std::min<std::uint64_t>(string.word(8) >> 32, kMaxNameUnits);
  if (16 + length > string.bytes.size()) return {};
  const std::string_view text(reinterpret_cast<const char*>(string.bytes.data() + 16), length);
  return is_ascii(text) ? text : std::string_view();
}

constexpr std::array<std::string_view, 21> kCodeTypes = {"AllocationSite",
                                                         "ArrayBoilerplateDescription",
                                                         "BytecodeArray",
                                                         "BytecodeWrapper",
                                                         "ClosureFeedbackCellArray",
                                                         "Code",
                                                         "CodeWrapper",
                                                         "CodeDataContainer",
                                                         "FeedbackCell",
                                                         "FeedbackMetadata",
                                                         "FeedbackVector",
                                                         "InstructionStream",
                                                         "InterpreterData",
                                                         "LoadHandler",
                                                         "ObjectBoilerplateDescription",
                                                         "PreparseData",
                                                         "RegExpBoilerplateDescription",
                                                         "ScopeInfo",
                                                         "StoreHandler",
                                                         "TemplateObjectDescription",
                                                         "SharedFunctionInfo"};

}  // namespace

bool is_code_type(std::string_view type) {
  return std::ranges::find(kCodeTypes, type) != kCodeTypes.end() || type.starts_with("UncompiledData") ||
         type.starts_with("Turbofan");
}

std::uint32_t HeapTexts::number(std::uint32_t value) {
  constexpr std::uint32_t kKept = 1 << 20;
  if (value >= kKept) return intern(fmt::format("{}", value));
  while (numbers_.size() <= value) numbers_.push_back(intern(fmt::format("{}", numbers_.size())));
  return numbers_[value];
}

bool HeapTexts::is_empty_string(std::uint64_t word) const {
  const auto object = objects_.load(word - 1);
  return object && object->shape->type < heap_.layout().type_first_nonstring.value &&
         (object->word(8) >> 32) == 0;
}

std::string HeapTexts::text(std::uint64_t string) {
  const auto value = v8::load_string_prefix(heap_, v8::TaggedWord{string}, kMaxNameUnits);
  return value ? value->to_utf8() : std::string();
}

std::uint32_t HeapTexts::key(std::uint64_t word) {
  const auto known = keys_.find(word);
  if (known != keys_.end()) return known->second;
  std::string name;
  const auto object = objects_.load(word - 1);
  if (object && heap_.layout().type_symbol.is(object->shape->type)) {
    const std::uint64_t description =
        object->word(static_cast<std::uint64_t>(heap_.layout().symbol_name.value));
    name = fmt::format("<symbol {}>", text(description));
  } else if (object) {
    name = text(word);
  }
  return keys_.emplace(word, intern(name)).first->second;
}

std::uint32_t HeapTexts::accessor_key(std::string_view prefix, std::uint64_t word) {
  const auto object = objects_.load(word - 1);
  if (object && heap_.layout().type_symbol.is(object->shape->type)) return key(word);
  return intern(std::string(prefix) + text(word));
}

std::uint32_t HeapTexts::content(const v8::HeapObject& string) {
  if (redact_) return intern(fmt::format("({} characters)", string.word(8) >> 32));
  const std::string_view plain = plain_text(string);
  if (!plain.empty()) return intern(plain);
  std::string name = text(string.tagged());
  // Its characters are outside of the heap, where they may be others by now.
  if (name.empty() && (string.word(8) >> 32) != 0) name = "(external string)";
  return intern(name);
}

std::uint32_t HeapTexts::content(std::uint64_t string) {
  const auto object = objects_.load(string - 1);
  return object && (string & 3) == 1 ? content(*object) : intern("");
}

HeapNodeNames::HeapNodeNames(const v8::HeapObjects& objects, v8::ConstructorNames& constructors,
                             HeapTexts& texts)
    : objects_(objects),
      layout_(objects.shapes().layout()),
      constructors_(constructors),
      texts_(texts),
      has_shapes_(layout_.version >= v8::Version{10, 8, 0}),
      empty_(texts.intern("")),
      types_(objects.size()),
      names_(objects.size()) {
  objects.for_each([&](std::uint32_t id, const v8::HeapObject& object) { name_object(id, object); });
  objects.for_each([&](std::uint32_t, const v8::HeapObject& object) { tag_parts(object); });
}

void HeapNodeNames::name_object(std::uint32_t id, const v8::HeapObject& object) {
  const int type = object.shape->type;
  const auto& types = objects_.shapes().types();
  constexpr int kRepresentationMask = 7;
  constexpr int kCons = 1;
  constexpr int kSliced = 3;
  if (type < layout_.type_first_nonstring.value) {
    const int representation = type & kRepresentationMask;
    if (representation == kCons)
      return set(id, HeapNodeType::kConcatenatedString, texts_.intern("(concatenated string)"));
    if (representation == kSliced)
      return set(id, HeapNodeType::kSlicedString, texts_.intern("(sliced string)"));
    return set(id, HeapNodeType::kString, texts_.content(object));
  }
  const std::string_view name = layout_.instance_types.class_name(type);
  if (object.shape->is_receiver && !layout_.type_js_proxy.is(type)) {
    if (layout_.is_function(type))
      return set(id, HeapNodeType::kClosure, texts_.intern(constructors_.own_function_name(object.tagged())));
    if (name == "JSBoundFunction") return set(id, HeapNodeType::kClosure, texts_.intern("native_bind"));
    if (layout_.type_js_regexp.is(type))
      return set(id, HeapNodeType::kRegexp,
                 texts_.content(object.word(static_cast<std::uint64_t>(layout_.regexp_source_string.value))));
    std::string text(constructors_.name(constructors_.of(object).name));
    return set(id, HeapNodeType::kObject, texts_.intern(text));
  }
  if (layout_.type_symbol.is(type)) {
    // Bit 0 of its flags, which follow its hash.
    const bool is_private = (object.word(8) >> 32 & 1) != 0;
    return is_private ? set(id, HeapNodeType::kHidden, texts_.intern("private symbol"))
                      : set(id, HeapNodeType::kSymbol, texts_.intern("symbol"));
  }
  if (type == types.bigint) return set(id, HeapNodeType::kBigint, texts_.intern("bigint"));
  if (layout_.type_heap_number.is(type)) return set(id, HeapNodeType::kNumber, texts_.intern("heap number"));
  if (type == types.native_context)
    return set(id, HeapNodeType::kHidden, texts_.intern("system / NativeContext"));
  if (objects_.shapes().is_context(type))
    return set(id, HeapNodeType::kObject, texts_.intern("system / Context"));
  if (layout_.type_shared.is(type))
    return set(id, HeapNodeType::kCode, texts_.intern(constructors_.own_function_name(object.tagged())));
  if (layout_.type_script.is(type)) {
    const std::uint64_t script_name = object.word(static_cast<std::uint64_t>(layout_.script_name.value));
    const auto named = objects_.load(script_name - 1);
    const bool has_name = named && named->shape->type < layout_.type_first_nonstring.value;
    return set(id, HeapNodeType::kCode, has_name ? texts_.key(script_name) : empty_);
  }
  if (layout_.type_oddball.is(type)) {
    constexpr std::uint64_t kToString = 16;  // after its value as a number
    return set(id, HeapNodeType::kHidden, texts_.key(object.word(kToString)));
  }
  name_system(id, object, name);
}

void HeapNodeNames::name_system(std::uint32_t id, const v8::HeapObject& object, std::string_view name) {
  const int type = object.shape->type;
  const auto& types = objects_.shapes().types();
  if (type == types.code || type == types.instruction_stream) return set(id, HeapNodeType::kCode, empty_);
  if (objects_.shapes().is_fixed_array(type) || type == types.fixed_double_array || type == types.byte_array)
    return set(id, HeapNodeType::kArray, empty_);
  const auto [known, is_new] = system_names_.try_emplace(type, 0);
  if (is_new) {
    std::string_view shown = name;
    if (type == types.feedback_metadata) shown = "FeedbackMetadata";
    if (type == types.transition_array) shown = "TransitionArray";
    known->second = texts_.intern(shown.empty() ? fmt::format("system / type {}", type)
                                                : fmt::format("system / {}", shown));
  }
  HeapNodeType node_type = HeapNodeType::kHidden;
  const std::uint32_t page = objects_.shapes().image().page_at(object.address);
  const bool is_read_only = page != v8::HeapImage::kNoPage &&
                            objects_.shapes().image().pages()[page].page.kind == v8::SpaceKind::kReadOnly;
  if (is_code_type(name) || type == types.feedback_metadata) {
    node_type = HeapNodeType::kCode;
  } else if (has_shapes_ && ((type == types.map && !is_read_only) || type == types.descriptor_array ||
                             type == types.strong_descriptor_array || type == types.transition_array ||
                             name == "PrototypeInfo" || name == "EnumCache")) {
    node_type = HeapNodeType::kObjectShape;
  }
  set(id, node_type, known->second);
}

bool HeapNodeNames::has_type(std::uint64_t word, int type) const {
  const auto object = (word & 3) == 1 ? objects_.load(word - 1) : std::nullopt;
  return object && object->shape->type == type;
}

void HeapNodeNames::tag(std::uint64_t word, std::string_view name) {
  const std::uint32_t id = objects_.find(word);
  if (id != v8::HeapObjects::kNone && names_[id] == empty_) names_[id] = texts_.intern(name);
}

void HeapNodeNames::tag(std::uint64_t word, std::string_view name, HeapNodeType type) {
  const std::uint32_t id = objects_.find(word);
  if (id == v8::HeapObjects::kNone) return;
  if (!has_shapes_ && type == HeapNodeType::kObjectShape) return;
  // The empty arrays that everything shares are nobody's.
  const auto object = objects_.load(word - 1);
  if (!object || object->bytes.size() <= 16) return;
  if (names_[id] == empty_) names_[id] = texts_.intern(name);
  types_[id] = static_cast<std::uint8_t>(type);
}

void HeapNodeNames::tag_parts(const v8::HeapObject& object) {
  const int type = object.shape->type;
  if (type < layout_.type_first_nonstring.value) return;
  if (object.shape->is_receiver) {
    tag(object.word(static_cast<std::uint64_t>(layout_.object_properties.value)), "(object properties)");
    tag(object.word(static_cast<std::uint64_t>(layout_.object_elements.value)), "(object elements)");
    return;
  }
  tag_parts_of_code(object, layout_.instance_types.class_name(type));
}

void HeapNodeNames::tag_parts_of_code(const v8::HeapObject& object, std::string_view type) {
  constexpr auto kCode = HeapNodeType::kCode;
  const auto& types = objects_.shapes().types();
  if (object.shape->type == types.bytecode_array) {
    // Constants, handlers and positions are the first fields; their order differs from version to version.
    for (std::uint64_t offset = 16; offset < object.shape->header_bytes; offset += 8) {
      const std::uint64_t word = object.word(offset);
      const auto part = (word & 3) == 1 ? objects_.load(word - 1) : std::nullopt;
      if (!part) continue;
      const std::string_view part_type = layout_.instance_types.class_name(part->shape->type);
      if (objects_.shapes().is_fixed_array(part->shape->type) || part_type == "TrustedFixedArray")
        tag_constants(word, 3);
      if (part->shape->type == types.byte_array)
        tag(word, offset >= 32 ? "(source position table)" : "(handler table)", kCode);
    }
  } else if (object.shape->type == types.feedback_vector) {
    for (std::uint64_t offset = object.shape->header_bytes; offset < object.bytes.size(); offset += 8) {
      const std::uint64_t word = object.word(offset);
      if (has_type(word, types.weak_fixed_array) || has_type(word, types.fixed_array))
        tag(word, "(feedback)", kCode);
    }
  } else if (type == "Script") {
    tag(object.word(56), "(script line ends)", kCode);
    for (const std::uint64_t offset : {80U, 88U, 96U, 104U, 112U}) {
      const std::uint64_t word = object.word(offset);
      if (has_type(word, types.weak_fixed_array)) tag(word, "(infos)", kCode);
    }
  } else if (type == "AllocationSite") {
    tag(object.word(24), "(dependent code)", kCode);
  } else if (type == "ArrayBoilerplateDescription") {
    tag(object.word(16), "(constant elements)", kCode);
  } else if (type == "EnumCache") {
    tag(object.word(8), "(enum cache)", HeapNodeType::kObjectShape);
    tag(object.word(16), "(enum cache)", HeapNodeType::kObjectShape);
  } else if (object.shape->type == types.instruction_stream) {
    tag(object.word(16), "(code relocation info)", kCode);
  } else if (object.shape->type == types.code && layout_.has_instruction_streams()) {
    tag(object.word(static_cast<std::uint64_t>(layout_.code_deopt.value)), "(code deopt data)", kCode);
    tag(object.word(static_cast<std::uint64_t>(layout_.code_positions.value)), "(source position table)",
        kCode);
  }
}

void HeapNodeNames::tag_constants(std::uint64_t word, int depth) {
  const auto array = (word & 3) == 1 ? objects_.load(word - 1) : std::nullopt;
  if (!array) return;
  const auto& types = objects_.shapes().types();
  const bool is_trusted = layout_.instance_types.class_name(array->shape->type) == "TrustedFixedArray";
  if (array->shape->type != types.fixed_array && !is_trusted) return;
  tag(word, "(constant pool)", HeapNodeType::kCode);
  if (depth <= 1) return;
  for (std::uint64_t offset = 16; offset < array->bytes.size(); offset += 8)
    tag_constants(array->word(offset), depth - 1);
}

}  // namespace nodescope
