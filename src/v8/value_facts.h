#pragma once

#include "v8/layout.h"
#include "v8/metadata.h"

namespace nodescope::v8 {

// What showing the values of JavaScript takes beyond what a stack does: numbers of types, places of fields.
struct ValueFacts {
  Fact type_map, type_set, type_weak_map, type_weak_set, type_weak_ref, type_promise, type_date, type_error,
      type_array_buffer, type_data_view, type_primitive_wrapper, type_bound_function, type_hole,
      type_context_cell, type_foreign, type_native_context;
  Fact function_context, context_slots;
  Fact array_buffer_bytes, array_buffer_store, view_buffer, view_offset, typed_external, typed_base;
  Fact collection_table, date_value, weak_target, promise_result, promise_flags, wrapped_value, proxy_target,
      proxy_handler, regexp_flags, bound_target, array_length;
  Fact number_dictionary_prefix;
  Fact oddball_hole;

  static ValueFacts read(const Metadata& metadata, const Layout& layout);
};

std::vector<NamedFact> list_facts(const ValueFacts& facts);

}  // namespace nodescope::v8
