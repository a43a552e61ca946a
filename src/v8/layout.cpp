#include "v8/layout.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "base/byte_source.h"
#include "v8/metadata.h"

namespace nodescope::v8 {

namespace {

// A value that holds from a version on.
struct Since {
  Version version;
  std::int32_t value = 0;
};

constexpr std::size_t kMaxSince = 3;

// A fact, the symbols that tell it (a name that ends with "__" stands for all symbols that begin so: the rest
// is the field's type, which is renamed often), and what V8's source says where there is none.
struct Rule {
  std::string_view name;
  Fact Layout::* member;
  std::array<std::string_view, 2> symbols;
  std::array<Since, kMaxSince> table{};
};

constexpr Version kAlways{9, 0, 0};

constexpr Rule kRules[] = {
    {"frame.function", &Layout::frame_function, {"off_fp_function"}, {{{kAlways, -16}}}},
    {"frame.context", &Layout::frame_context, {"off_fp_context"}, {{{kAlways, -8}}}},
    {"frame.receiver", &Layout::frame_receiver, {"off_fp_args"}, {{{kAlways, 16}}}},
    {"frame.bytecode_array", &Layout::frame_bytecode_array, {"off_fp_bytecode_array"}, {{{kAlways, -32}}}},
    {"frame.bytecode_offset", &Layout::frame_bytecode_offset, {"off_fp_bytecode_offset"}, {{{kAlways, -40}}}},
    {"Map.instance_type", &Layout::map_instance_type, {"class_Map__instance_type__"}, {}},
    {"Map.instance_words", &Layout::map_instance_words, {"class_Map__instance_size_in_words__"}, {}},
    {"Map.inobject_start",
     &Layout::map_inobject_start,
     {"class_Map__inobject_properties_start_or_constructor_function_index__"},
     {}},
    {"Map.bit_field2", &Layout::map_bit_field2, {"class_Map__bit_field2__"}, {}},
    {"Map.bit_field3", &Layout::map_bit_field3, {"class_Map__bit_field3__"}, {}},
    {"Map.prototype", &Layout::map_prototype, {"class_Map__prototype__"}, {}},
    {"Map.constructor", &Layout::map_constructor, {"class_Map__constructor_or_back_pointer__"}, {}},
    {"Map.descriptors", &Layout::map_descriptors, {"class_Map__instance_descriptors_offset"}, {}},
    {"Map.own_descriptors_mask",
     &Layout::own_descriptors_mask,
     {"bit_field3_number_of_own_descriptors_mask"},
     {}},
    {"Map.own_descriptors_shift",
     &Layout::own_descriptors_shift,
     {"bit_field3_number_of_own_descriptors_shift"},
     {}},
    {"Map.is_dictionary_shift", &Layout::is_dictionary_shift, {"bit_field3_is_dictionary_map_shift"}, {}},
    {"DescriptorArray.header", &Layout::descriptors_header, {"class_DescriptorArray__header_size__"}, {}},
    {"property.kind_mask", &Layout::property_kind_mask, {"prop_kind_mask"}, {}},
    {"property.location_mask", &Layout::property_location_mask, {"prop_location_mask"}, {}},
    {"property.index_mask", &Layout::property_index_mask, {"prop_index_mask"}, {}},
    {"property.index_shift", &Layout::property_index_shift, {"prop_index_shift"}, {}},
    {"JSObject.properties", &Layout::object_properties, {"class_JSReceiver__raw_properties_or_hash__"}, {}},
    {"NameDictionary.prefix_start",
     &Layout::dictionary_prefix_start,
     {"namedictionary_prefix_start_index"},
     {}},
    {"NameDictionary.prefix_size", &Layout::dictionary_prefix_size, {"namedictionaryshape_prefix_size"}, {}},
    {"AccessorPair.getter", &Layout::accessor_getter, {"class_AccessorPair__getter__"}, {{{kAlways, 8}}}},
    {"AccessorPair.setter", &Layout::accessor_setter, {"class_AccessorPair__setter__"}, {{{kAlways, 16}}}},
    {"JSObject.elements", &Layout::object_elements, {"class_JSObject__elements__"}, {{{kAlways, 16}}}},
    {"Map.elements_kind_mask", &Layout::elements_kind_mask, {"bit_field2_elements_kind_mask"}, {}},
    {"Map.elements_kind_shift", &Layout::elements_kind_shift, {"bit_field2_elements_kind_shift"}, {}},
    {"JSArrayBufferView.bytes",
     &Layout::array_buffer_view_bytes,
     {"class_JSArrayBufferView__byte_length__"},
     {}},
    {"HeapNumber.value", &Layout::heap_number_value, {"class_HeapNumber__value__"}, {{{kAlways, 8}}}},
    {"Symbol.name", &Layout::symbol_name, {"class_Symbol__name__", "class_Symbol__description__"}, {}},
    {"Oddball.kind", &Layout::oddball_kind, {"class_Oddball__kind_offset__", "class_Oddball__kind__"}, {}},
    {"Oddball.true", &Layout::oddball_true, {"OddballTrue"}, {}},
    {"Oddball.false", &Layout::oddball_false, {"OddballFalse"}, {}},
    {"Oddball.null", &Layout::oddball_null, {"OddballNull"}, {}},
    {"Oddball.undefined", &Layout::oddball_undefined, {"OddballUndefined"}, {}},
    {"JSFunction.shared",
     &Layout::function_shared,
     {"class_JSFunction__shared__"},
     {{{kAlways, 24}, {{11, 7, 0}, 32}}}},
    {"JSFunction.feedback_cell",
     &Layout::function_feedback_cell,
     {"class_JSFunction__raw_feedback_cell__"},
     {}},
    {"SharedFunctionInfo.name",
     &Layout::shared_name,
     {"class_SharedFunctionInfo__name_or_scope_info__"},
     {{{kAlways, 16}, {{12, 8, 0}, 24}}}},
    {"SharedFunctionInfo.data",
     &Layout::shared_data,
     {"class_SharedFunctionInfo__function_data__"},
     {{{kAlways, 8}}}},
    {"SharedFunctionInfo.script",
     &Layout::shared_script,
     {"class_SharedFunctionInfo__script__", "class_SharedFunctionInfo__script_or_debug_info__"},
     {{{kAlways, 32}, {{12, 8, 0}, 40}}}},
    {"SharedFunctionInfo.flags", &Layout::shared_flags, {"class_SharedFunctionInfo__flags__"}, {}},
    {"Script.source", &Layout::script_source, {"class_Script__source__"}, {{{kAlways, 8}}}},
    {"Script.name", &Layout::script_name, {"class_Script__name__"}, {{{kAlways, 16}}}},
    {"Script.line_offset", &Layout::script_line_offset, {"class_Script__line_offset__"}, {{{kAlways, 24}}}},
    {"Script.eval_from",
     &Layout::script_eval_from,
     {"class_Script__eval_from_shared_or_wrapped_arguments__",
      "class_Script__eval_from_shared_or_wrapped_arguments_or_sfi_table__"},
     {{{kAlways, 72}}}},
    {"Script.lazy_positions",
     &Layout::script_lazy_positions,
     {"class_Script__compiled_lazy_function_positions__"},
     {}},
    {"Script.source_url", &Layout::script_source_url, {"class_Script__source_url__"}, {}},
    {"Script.wasm_module", &Layout::script_wasm_module, {"class_Script__wasm_managed_native_module__"}, {}},
    {"Page.flags", &Layout::page_flags, {}, {{{kAlways, 8}, {{12, 0, 0}, 0}}}},
    {"BytecodeArray.bytecodes", &Layout::bytecodes, {"class_BytecodeArray__data__"}, {{{kAlways, 54}}}},
    {"BytecodeArray.positions",
     &Layout::bytecode_positions,
     {"class_BytecodeArray__source_position_table__"},
     {{{kAlways, 32}, {{12, 1, 0}, 24}}}},
    {"Code.flags", &Layout::code_flags, {"class_Code__flags__"}, {}},
    {"Code.size", &Layout::code_size, {"class_Code__instruction_size__"}, {}},
    {"Code.start", &Layout::code_start, {"class_Code__instruction_start__"}, {}},
    {"Code.positions", &Layout::code_positions, {"class_Code__source_position_table__"}, {}},
    {"Code.deopt", &Layout::code_deopt, {"class_Code__deoptimization_data__"}, {}},
    {"InstructionStream.code", &Layout::stream_code, {"class_InstructionStream__code__"}, {{{kAlways, 8}}}},
    {"Code.kind_mask", &Layout::code_kind_mask, {"CodeKindFieldMask"}, {{{kAlways, 15}}}},
    {"Code.kind_baseline", &Layout::code_kind_baseline, {"CodeKindBaseline"}, {{{kAlways, 11}}}},
    {"JSRegExp.data", &Layout::js_regexp_data, {"class_JSRegExp__data__"}, {{{kAlways, 24}}}},
    // The second element of a FixedArray, before the data became a class of its own.
    {"RegExpData.source", &Layout::regexp_source, {"class_RegExpData__source__"}, {{{kAlways, 24}}}},
    {"DeoptimizationData.literals",
     &Layout::deopt_literals,
     {"DeoptimizationDataLiteralArrayIndex"},
     {{{kAlways, 2}}}},
    {"DeoptimizationData.shared",
     &Layout::deopt_shared,
     {"DeoptimizationDataSharedFunctionInfoIndex", "DeoptimizationDataWrappedSharedFunctionInfoIndex"},
     {{{kAlways, 6}}}},
    {"DeoptimizationData.positions",
     &Layout::deopt_positions,
     {"DeoptimizationDataInliningPositionsIndex"},
     {{{kAlways, 7}}}},
    {"type.Map", &Layout::type_map, {"type_Map__"}, {}},
    {"type.SharedFunctionInfo", &Layout::type_shared, {"type_SharedFunctionInfo__"}, {}},
    {"type.Script", &Layout::type_script, {"type_Script__"}, {}},
    {"type.ScopeInfo", &Layout::type_scope_info, {"type_ScopeInfo__"}, {}},
    {"type.BytecodeArray", &Layout::type_bytecode_array, {"type_BytecodeArray__"}, {}},
    {"type.Code", &Layout::type_code, {"type_Code__"}, {}},
    {"type.ByteArray", &Layout::type_byte_array, {"type_ByteArray__"}, {}},
    {"type.TrustedByteArray", &Layout::type_trusted_byte_array, {"type_TrustedByteArray__"}, {}},
    {"type.DebugInfo", &Layout::type_debug_info, {"type_DebugInfo__"}, {}},
    {"type.InterpreterData", &Layout::type_interpreter_data, {"type_InterpreterData__"}, {}},
    {"type.InstructionStream", &Layout::type_instruction_stream, {"type_InstructionStream__"}, {}},
    {"type.SharedFunctionInfoWrapper",
     &Layout::type_shared_wrapper,
     {"type_SharedFunctionInfoWrapper__"},
     {}},
    {"type.BaselineData", &Layout::type_baseline_data, {"type_BaselineData__"}, {}},
    {"type.FeedbackVector", &Layout::type_feedback_vector, {"type_FeedbackVector__"}, {}},
    {"type.DescriptorArray", &Layout::type_descriptor_array, {"type_DescriptorArray__"}, {}},
    {"type.StrongDescriptorArray",
     &Layout::type_strong_descriptor_array,
     {"type_StrongDescriptorArray__"},
     {}},
    {"type.PropertyArray", &Layout::type_property_array, {"type_PropertyArray__"}, {}},
    {"type.AccessorPair", &Layout::type_accessor_pair, {"type_AccessorPair__"}, {}},
    {"type.JSProxy", &Layout::type_js_proxy, {"type_JSProxy__"}, {}},
    {"type.JSGlobalProxy", &Layout::type_js_global_proxy, {"type_JSGlobalProxy__"}, {}},
    {"type.Oddball", &Layout::type_oddball, {"type_Oddball__"}, {}},
    {"type.HeapNumber", &Layout::type_heap_number, {"type_HeapNumber__"}, {}},
    {"type.Symbol", &Layout::type_symbol, {"type_Symbol__"}, {}},
    {"type.JSArray", &Layout::type_js_array, {"type_JSArray__"}, {}},
    {"type.JSObject", &Layout::type_js_object, {"type_JSObject__"}, {}},
    {"type.JSTypedArray", &Layout::type_js_typed_array, {"type_JSTypedArray__"}, {}},
    {"type.CodeWrapper", &Layout::type_code_wrapper, {"type_CodeWrapper__"}, {}},
    {"type.JSRegExp", &Layout::type_js_regexp, {"type_JSRegExp__"}, {}},
    {"type.RegExpData", &Layout::type_regexp_data, {"type_IrRegExpData__", "type_FixedArray__"}, {}},
    {"type.WasmModuleObject", &Layout::type_wasm_module, {"type_WasmModuleObject__"}, {}},
    {"type.WasmInstanceObject", &Layout::type_wasm_instance, {"type_WasmInstanceObject__"}, {}},
    {"type.first_function", &Layout::type_first_function, {"FirstJSFunctionType", "type_JSFunction__"}, {}},
    {"type.last_function", &Layout::type_last_function, {"LastJSFunctionType"}, {}},
    {"type.first_nonstring", &Layout::type_first_nonstring, {"FirstNonstringType"}, {}},
    {"type.first_context", &Layout::type_first_context, {"FirstContextType"}, {}},
    {"type.last_context", &Layout::type_last_context, {"LastContextType"}, {}},
    {"JSFunction.context", &Layout::function_context, {"class_JSFunction__context__"}, {}},
    {"JSFunction.prototype",
     &Layout::function_prototype,
     {"class_JSFunction__prototype_or_initial_map__"},
     {}},
    {"JSArrayBuffer.bytes", &Layout::array_buffer_bytes, {"class_JSArrayBuffer__byte_length__"}, {}},
    {"JSArrayBuffer.store", &Layout::array_buffer_store, {"class_JSArrayBuffer__backing_store__"}, {}},
    {"Map.transitions", &Layout::map_transitions, {"class_Map__raw_transitions__"}, {}},
    {"Map.dependent_code", &Layout::map_dependent_code, {"class_Map__dependent_code__"}, {}},
    {"JSRegExp.source", &Layout::regexp_source_string, {"class_JSRegExp__source__"}, {{{kAlways, 32}}}},
    {"elements.dictionary", &Layout::dictionary_elements, {"elements_dictionary_elements"}, {}},
    {"property.representation_mask", &Layout::representation_mask, {"prop_representation_mask"}, {}},
    {"property.representation_shift", &Layout::representation_shift, {"prop_representation_shift"}, {}},
    {"property.representation_double", &Layout::representation_double, {"prop_representation_double"}, {}},
    {"JSGlobalObject.dictionary",
     &Layout::global_dictionary,
     {"class_JSGlobalObject__global_dictionary__"},
     {}},
};

Fact fact_of(const Rule& rule, const Metadata& metadata, const Version& version) {
  for (const std::string_view symbol : rule.symbols) {
    if (symbol.empty()) continue;
    if (const auto value = metadata.find(symbol)) return {*value, Origin::kMetadata};
  }
  Fact fact;
  for (const Since& since : rule.table) {
    if (since.version.major != 0 && version >= since.version) fact = {since.value, Origin::kVersionTable};
  }
  return fact;
}

void set_if_absent(Fact& fact, std::int32_t value) {
  if (!fact.known()) fact = {value, Origin::kVersionTable};
}

// The fields of Code follow one another; which of them have a symbol differs from version to version.
void complete_code(Layout& layout) {
  const Version& version = layout.version;
  if (!layout.has_instruction_streams()) {
    set_if_absent(layout.code_deopt, 16);
    set_if_absent(layout.code_positions, 24);
    set_if_absent(layout.code_size, 40);
    set_if_absent(layout.code_flags, 48);
    set_if_absent(layout.code_start, version < Version{10, 0, 0} ? 96 : 128);
    return;
  }
  if (version < Version{12, 0, 0}) {
    set_if_absent(layout.code_positions, version < Version{11, 7, 0} ? 24 : 16);
    set_if_absent(layout.code_deopt, layout.code_positions.value - 8);
    set_if_absent(layout.code_start, layout.code_positions.value + 16);
    set_if_absent(layout.code_flags, layout.code_start.value + 8);
    set_if_absent(layout.code_size, layout.code_flags.value + (version >= Version{11, 4, 59} ? 4 : 8));
    return;
  }
  set_if_absent(layout.code_start, 40);
  set_if_absent(layout.code_deopt, layout.code_start.value - 32);
  set_if_absent(layout.code_positions, layout.code_start.value - 24);
  set_if_absent(layout.code_flags, 52);
  set_if_absent(layout.code_size, 56);
}

void complete_function_types(Layout& layout) {
  if (!layout.type_first_function.known()) return;
  const int more = layout.version >= Version{11, 0, 0} ? 16 : layout.version >= Version{9, 6, 138} ? 15 : 14;
  set_if_absent(layout.type_last_function, layout.type_first_function.value + more);
}

// Behind the functions of the script, in newer versions the positions of those that were compiled lazily, and
// the flags.
void complete_script(Layout& layout) {
  const std::int32_t infos = layout.script_eval_from.value + 16;
  set_if_absent(layout.script_source_url, infos + (layout.script_lazy_positions.known() ? 24 : 16));
}

Marker marker_of(std::string_view name) {
  if (name == "JsToWasmFrame") return Marker::kJsToWasm;
  if (name.starts_with("WasmToJs")) return Marker::kWasmToJs;
  if (name.find("Wasm") != std::string_view::npos || name == "StackSwitchFrame") return Marker::kWasm;
  if (name == "BuiltinExitFrame") return Marker::kBuiltinExit;
  return name == "IrregexpFrame" ? Marker::kRegExp : Marker::kOther;
}

std::vector<Marker> markers_of(const Metadata& metadata) {
  constexpr std::string_view kPrefix = "frametype_";
  constexpr std::int32_t kMaxFrameType = 63;  // the marker is a Smi-like word below 128
  std::vector<Marker> markers(kMaxFrameType + 1, Marker::kOther);
  for (const auto& [name, value] : metadata.with_prefix(kPrefix)) {
    if (value >= 0 && value <= kMaxFrameType)
      markers[static_cast<std::size_t>(value)] = marker_of(std::string_view(name).substr(kPrefix.size()));
  }
  return markers;
}

constexpr std::string_view kBytecodeSizes = "_ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE";

// How many bytecodes a version has, for binaries without the symbol of the table.
std::size_t bytecode_count(const Version& version) {
  struct Count {
    int major, minor;
    std::size_t count;
  };
  constexpr Count kCounts[] = {{9, 4, 197},  {10, 2, 198}, {11, 3, 198},
                               {12, 4, 203}, {13, 6, 208}, {14, 6, 212}};
  for (const Count& known : kCounts) {
    if (known.major == version.major && known.minor == version.minor) return known.count;
  }
  return 0;
}

void find_bytecode_sizes(const ElfFile& file, Layout& layout) {
  const auto use = [&](std::string_view sizes, Origin origin) {
    layout.bytecode_sizes = sizes;
    layout.bytecode_count = {static_cast<std::int32_t>(sizes.size() / 3), origin};
  };
  for (const ElfSymbols& symbols : {file.dynsym(), file.symtab()}) {
    const auto symbol = symbols.find(kBytecodeSizes);
    if (!symbol || symbol->size_bytes % 3 != 0 || symbol->size_bytes > 3 * 256) continue;
    const std::string_view content = as_text(file.content_at(FileAddress{symbol->value}));
    if (content.size() >= symbol->size_bytes)
      return use(content.substr(0, symbol->size_bytes), Origin::kMetadata);
  }
  // The sizes of the first bytecodes: no other data of a node binary begins like this.
  constexpr std::string_view kFirst("\1\1\1\1\1\2\3\4\5\5\6", 11);
  const std::size_t size = 3 * bytecode_count(layout.version);
  for (const ElfSegment& segment : file.loads()) {
    const std::string_view data = as_text(file.content(segment));
    const std::size_t at = size == 0 ? std::string_view::npos : data.find(kFirst);
    if (at != std::string_view::npos && at + size <= data.size())
      return use(data.substr(at, size), Origin::kCalibration);
  }
}

}  // namespace

std::string_view to_string(Origin origin) {
  switch (origin) {
    case Origin::kMetadata:
      return "metadata";
    case Origin::kCalibration:
      return "calibration";
    case Origin::kVersionTable:
      return "version table";
    case Origin::kAbsent:
      return "absent";
  }
  return "absent";
}

Result<Layout> Layout::build(const ElfFile& file) {
  if (file.machine() != Machine::kX86_64)
    return fail(ErrorCode::kUnsupported, "JavaScript stacks are read on x86-64 only");
  Layout layout;
  layout.versions = read_versions(file);
  const auto version = parse_version(layout.versions.v8);
  if (!version) return fail(ErrorCode::kUnsupported, "the version of V8 is not in the binary");
  layout.version = *version;
  if (layout.version < kAlways)
    return fail(ErrorCode::kUnsupported, "V8 " + layout.versions.v8 + " is older than Node.js 16");
  const Metadata metadata = Metadata::read(file);
  if (const auto size = metadata.find("TaggedSize"); size && *size != 8)
    return fail(ErrorCode::kUnsupported, "this V8 was built with pointer compression");
  for (const Rule& rule : kRules) layout.*rule.member = fact_of(rule, metadata, layout.version);
  complete_code(layout);
  complete_function_types(layout);
  complete_script(layout);
  layout.markers = markers_of(metadata);
  layout.instance_types = InstanceTypes::read(metadata);
  find_bytecode_sizes(file, layout);
  if (!layout.map_instance_type.known() || !layout.type_map.known() || !layout.type_shared.known())
    return fail(ErrorCode::kUnsupported, "the binary's v8dbg_* symbols do not describe maps and functions");
  return layout;
}

std::vector<NamedFact> list_facts(const Layout& layout) {
  std::vector<NamedFact> facts;
  for (const Rule& rule : kRules) facts.push_back({rule.name, layout.*rule.member});
  facts.push_back({"bytecodes", layout.bytecode_count});
  return facts;
}

}  // namespace nodescope::v8
