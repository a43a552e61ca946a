#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "binary/elf_file.h"
#include "v8/instance_types.h"
#include "v8/version.h"

namespace nodescope::v8 {

// Where a fact about V8 comes from, best first.
enum class Origin : std::uint8_t {
  kMetadata,      // a symbol v8dbg_* of the binary
  kCalibration,   // found in the binary by what it looks like
  kVersionTable,  // known from the source of this version
  kAbsent,
};

std::string_view to_string(Origin origin);

// A number about V8's memory: the offset of a field, the number of an instance type.
struct Fact {
  std::int32_t value = 0;
  Origin origin = Origin::kAbsent;

  bool known() const { return origin != Origin::kAbsent; }
  // As a mask or a shift of a 32-bit word; a binary may claim any number.
  std::uint32_t mask() const { return static_cast<std::uint32_t>(value); }
  std::uint32_t shift() const { return static_cast<std::uint32_t>(value) & 31u; }
  bool is(std::int64_t other) const { return known() && value == other; }
};

// What a frame that carries a marker instead of a function is.
enum class Marker : std::uint8_t { kOther, kBuiltinExit, kRegExp, kWasm, kJsToWasm, kWasmToJs };

// Everything that reading a stack needs to know about the V8 in one binary.  Offsets are from the beginning
// of an object, without its tag.
struct Layout {
  // V8 as of Node 26.  In a newer one the formats that no metadata describes are not trusted: functions have
  // names but no lines.
  static constexpr Version kNewestKnown{14, 6, 1 << 20};

  BinaryVersions versions;
  Version version;

  Fact frame_function, frame_context, frame_receiver, frame_bytecode_array, frame_bytecode_offset;

  Fact map_instance_type, map_instance_words, map_inobject_start, map_bit_field2, map_bit_field3,
      map_prototype, map_constructor, map_descriptors;
  Fact own_descriptors_mask, own_descriptors_shift, is_dictionary_shift;
  Fact descriptors_header;
  Fact property_kind_mask, property_location_mask, property_index_mask, property_index_shift;
  Fact object_properties;
  Fact dictionary_prefix_start, dictionary_prefix_size;
  Fact accessor_getter, accessor_setter;
  Fact object_elements, elements_kind_mask, elements_kind_shift, array_buffer_view_bytes;
  Fact heap_number_value, symbol_name, oddball_kind, oddball_true, oddball_false, oddball_null,
      oddball_undefined;

  Fact function_shared, function_feedback_cell;
  Fact shared_name, shared_data, shared_script, shared_flags;
  Fact script_name, script_source, script_line_offset, script_eval_from, script_lazy_positions,
      script_source_url, script_wasm_module;
  Fact page_flags;
  Fact bytecodes, bytecode_positions;
  Fact code_deopt, code_positions, code_size, code_flags, code_start, stream_code;
  Fact code_kind_mask, code_kind_baseline;
  Fact js_regexp_data, regexp_source;
  Fact deopt_literals, deopt_shared, deopt_positions;

  Fact type_map, type_shared, type_script, type_scope_info, type_bytecode_array, type_code, type_byte_array,
      type_trusted_byte_array, type_debug_info, type_interpreter_data, type_instruction_stream,
      type_shared_wrapper, type_baseline_data, type_feedback_vector, type_descriptor_array,
      type_strong_descriptor_array, type_property_array, type_accessor_pair, type_js_proxy,
      type_js_global_proxy, type_oddball, type_heap_number, type_symbol, type_js_array, type_js_object,
      type_js_typed_array, type_js_regexp, type_regexp_data, type_code_wrapper, type_wasm_module,
      type_wasm_instance;
  Fact type_first_function, type_last_function, type_first_nonstring, type_first_context, type_last_context;

  // Of the heap walker.
  Fact function_context, function_prototype, array_buffer_bytes, array_buffer_store, map_transitions,
      map_dependent_code, regexp_source_string, global_dictionary, dictionary_elements, representation_mask,
      representation_shift, representation_double;
  InstanceTypes instance_types;

  std::vector<Marker> markers;  // by frame type
  // One byte per bytecode, for operands of one, two and four bytes; empty: not known.
  std::string bytecode_sizes;
  Fact bytecode_count;

  // Reads them from a binary that has_v8_metadata.
  static Result<Layout> build(const ElfFile& file);

  // Code and its instructions are two objects (V8 >= 11).
  bool has_instruction_streams() const { return type_instruction_stream.known(); }
  bool is_known_version() const { return version <= kNewestKnown; }
  bool is_function(int type) const {
    return type_first_function.known() && type >= type_first_function.value &&
           type <= type_last_function.value;
  }
  int code_kind_maglev() const { return code_kind_baseline.value + 1; }
  int code_kind_turbofan() const { return code_kind_baseline.value + (version >= Version{9, 2, 0} ? 2 : 3); }
  int code_kind_builtin() const { return code_kind_regexp() - 1; }
  int code_kind_regexp() const { return code_kind_baseline.value - (version < Version{12, 0, 0} ? 8 : 7); }
  // Unknown numbers are kOther.
  Marker marker(std::uint64_t frame_type) const {
    return frame_type < markers.size() ? markers[frame_type] : Marker::kOther;
  }
};

// Every fact by name, for people.
struct NamedFact {
  std::string_view name;
  Fact fact;
};
std::vector<NamedFact> list_facts(const Layout& layout);

}  // namespace nodescope::v8
