#include "v8/value_facts.h"

#include <optional>
#include <string_view>

namespace nodescope::v8 {

namespace {

struct Rule {
  std::string_view name;
  Fact ValueFacts::* member;
  std::string_view symbol;                 // ends with "__": any that begins so
  std::optional<std::int32_t> value = {};  // where there is no symbol: of V8 9 to 14
};

// Fields without symbols have kept their places in V8 9.4 to 14.6: src/objects/js-collection.tq, js-date.tq,
// js-weak-refs.tq, js-promise.tq, js-proxy.tq, js-regexp.tq, js-array.tq, js-function.tq, contexts.tq.
constexpr Rule kRules[] = {
    {"type.JSMap", &ValueFacts::type_map, "type_JSMap__"},
    {"type.JSSet", &ValueFacts::type_set, "type_JSSet__"},
    {"type.JSWeakMap", &ValueFacts::type_weak_map, "type_JSWeakMap__"},
    {"type.JSWeakSet", &ValueFacts::type_weak_set, "type_JSWeakSet__"},
    {"type.JSWeakRef", &ValueFacts::type_weak_ref, "type_JSWeakRef__"},
    {"type.JSPromise", &ValueFacts::type_promise, "type_JSPromise__"},
    {"type.JSDate", &ValueFacts::type_date, "type_JSDate__"},
    {"type.JSError", &ValueFacts::type_error, "type_JSError__"},
    {"type.JSArrayBuffer", &ValueFacts::type_array_buffer, "type_JSArrayBuffer__"},
    {"type.JSDataView", &ValueFacts::type_data_view, "type_JSDataView__"},
    {"type.JSPrimitiveWrapper", &ValueFacts::type_primitive_wrapper, "type_JSPrimitiveWrapper__"},
    {"type.JSBoundFunction", &ValueFacts::type_bound_function, "type_JSBoundFunction__"},
    {"type.Hole", &ValueFacts::type_hole, "type_Hole__"},
    {"type.ContextCell", &ValueFacts::type_context_cell, "type_ContextCell__"},
    {"type.Foreign", &ValueFacts::type_foreign, "type_Foreign__"},
    {"type.NativeContext", &ValueFacts::type_native_context, "type_NativeContext__"},
    {"JSFunction.context", &ValueFacts::function_context, "class_JSFunction__context__"},
    {"Context.slots", &ValueFacts::context_slots, "", 16},
    {"JSArrayBuffer.bytes", &ValueFacts::array_buffer_bytes, "class_JSArrayBuffer__byte_length__"},
    {"JSArrayBuffer.store", &ValueFacts::array_buffer_store, "class_JSArrayBuffer__backing_store__"},
    {"JSArrayBufferView.buffer", &ValueFacts::view_buffer, "", 24},
    {"JSArrayBufferView.offset", &ValueFacts::view_offset, "class_JSArrayBufferView__byte_offset__"},
    {"JSTypedArray.external", &ValueFacts::typed_external, "class_JSTypedArray__external_pointer__"},
    {"JSTypedArray.base", &ValueFacts::typed_base, "class_JSTypedArray__base_pointer__"},
    {"JSCollection.table", &ValueFacts::collection_table, "", 24},
    {"JSDate.value", &ValueFacts::date_value, "class_JSDate__value__", 24},
    {"JSWeakRef.target", &ValueFacts::weak_target, "", 24},
    {"JSPromise.result", &ValueFacts::promise_result, "", 24},
    {"JSPromise.flags", &ValueFacts::promise_flags, "", 32},
    {"JSPrimitiveWrapper.value", &ValueFacts::wrapped_value, "", 24},
    {"JSProxy.target", &ValueFacts::proxy_target, "", 16},
    {"JSProxy.handler", &ValueFacts::proxy_handler, "", 24},
    {"JSRegExp.flags", &ValueFacts::regexp_flags, "", 40},
    {"JSBoundFunction.target", &ValueFacts::bound_target, "", 24},
    {"JSArray.length", &ValueFacts::array_length, "", 24},
    {"NumberDictionary.prefix_size", &ValueFacts::number_dictionary_prefix,
     "numberdictionaryshape_prefix_size", 1},
    {"Oddball.hole", &ValueFacts::oddball_hole, "OddballTheHole"},
};

}  // namespace

ValueFacts ValueFacts::read(const Metadata& metadata, const Layout& layout) {
  ValueFacts facts;
  for (const Rule& rule : kRules) {
    const auto exported = rule.symbol.empty() ? std::nullopt : metadata.find(rule.symbol);
    if (exported) {
      facts.*rule.member = {*exported, Origin::kMetadata};
    } else if (rule.value && layout.is_known_version()) {
      facts.*rule.member = {*rule.value, Origin::kVersionTable};
    }
  }
  // Since V8 13 every object that embedders make has one more field, and a word of flags follows the buffer.
  constexpr std::int32_t kOffsetBehindFlags = 48;
  if (facts.view_offset.known() && facts.view_offset.value >= kOffsetBehindFlags)
    facts.view_buffer = {32, Origin::kVersionTable};
  // No symbol names it; it comes after the feedback vector, fillers and free space (V8 14).
  const bool has_hole_type = layout.version >= Version{14, 0, 0} && layout.is_known_version();
  if (!facts.type_hole.known() && has_hole_type && layout.type_feedback_vector.known())
    facts.type_hole = {layout.type_feedback_vector.value + 3, Origin::kVersionTable};
  return facts;
}

std::vector<NamedFact> list_facts(const ValueFacts& facts) {
  std::vector<NamedFact> named;
  for (const Rule& rule : kRules) named.push_back({rule.name, facts.*rule.member});
  return named;
}

}  // namespace nodescope::v8
