#include "v8/async_layout.h"

#include <algorithm>

#include "v8/builtin_facts.h"
#include "v8/metadata.h"

namespace nodescope::v8 {

namespace {

// A field whose place V8's source tells: src/objects/js-generator.tq, js-promise.tq, promise.tq, microtask.tq
// and contexts.h.  With V8 12 the data that embedders keep across promises became the first field of a
// reaction and of a microtask.
struct Field {
  std::string_view name;
  Fact AsyncLayout::* member;
  std::int32_t offset = 0;
  Version moved_in = {};
  std::int32_t moved_to = 0;
};

constexpr Version kV8_12{12, 0, 0};
constexpr Version kV8_12_8{12, 8, 0};

constexpr Field kFields[] = {
    {"JSGeneratorObject.function", &AsyncLayout::generator_function, 24},
    {"JSGeneratorObject.receiver", &AsyncLayout::generator_receiver, 40},
    {"JSGeneratorObject.position", &AsyncLayout::generator_position, 48},
    {"JSGeneratorObject.continuation", &AsyncLayout::generator_continuation, 64},
    {"JSAsyncFunctionObject.promise", &AsyncLayout::async_function_promise, 80},
    {"JSAsyncGeneratorObject.queue", &AsyncLayout::async_generator_queue, 80},
    {"AsyncGeneratorRequest.promise", &AsyncLayout::generator_request_promise, 32},
    {"JSPromise.reactions", &AsyncLayout::promise_reactions, 24},
    {"JSPromise.flags", &AsyncLayout::promise_flags, 32},
    {"PromiseCapability.promise", &AsyncLayout::capability_promise, 8},
    {"PromiseReaction.next", &AsyncLayout::reaction_next, 8, kV8_12, 16},
    {"PromiseReaction.reject", &AsyncLayout::reaction_reject, 16, kV8_12, 24},
    {"PromiseReaction.fulfill", &AsyncLayout::reaction_fulfill, 24, kV8_12, 32},
    {"PromiseReaction.promise", &AsyncLayout::reaction_promise, 32, kV8_12, 40},
    {"PromiseReaction.context", &AsyncLayout::reaction_context, 40, kV8_12, 8},
    {"PromiseReactionJobTask.handler", &AsyncLayout::reaction_job_handler, 24, kV8_12, 32},
    {"PromiseReactionJobTask.promise", &AsyncLayout::reaction_job_promise, 32, kV8_12, 40},
    {"PromiseResolveThenableJobTask.promise", &AsyncLayout::thenable_job_promise, 16, kV8_12, 24},
    {"Context.slots", &AsyncLayout::context_slots, 16},
    {"SharedFunctionInfo.builtin", &AsyncLayout::shared_builtin, 8, kV8_12_8, 16},
};

struct Type {
  std::string_view name;
  Fact AsyncLayout::* member;
  std::string_view symbol;
};

constexpr Type kTypes[] = {
    {"type.JSAsyncFunctionObject", &AsyncLayout::type_async_function_object, "type_JSAsyncFunctionObject__"},
    {"type.JSAsyncGeneratorObject", &AsyncLayout::type_async_generator_object,
     "type_JSAsyncGeneratorObject__"},
    {"type.AsyncGeneratorRequest", &AsyncLayout::type_generator_request, "type_AsyncGeneratorRequest__"},
    {"type.JSPromise", &AsyncLayout::type_promise, "type_JSPromise__"},
    {"type.PromiseReaction", &AsyncLayout::type_promise_reaction, "type_PromiseReaction__"},
    {"type.PromiseCapability", &AsyncLayout::type_promise_capability, "type_PromiseCapability__"},
    {"type.PromiseFulfillReactionJobTask", &AsyncLayout::type_fulfill_job,
     "type_PromiseFulfillReactionJobTask__"},
    {"type.PromiseRejectReactionJobTask", &AsyncLayout::type_reject_job,
     "type_PromiseRejectReactionJobTask__"},
    {"type.PromiseResolveThenableJobTask", &AsyncLayout::type_thenable_job,
     "type_PromiseResolveThenableJobTask__"},
    {"type.JSMap", &AsyncLayout::type_map, "type_JSMap__"},
    {"type.CallableTask", &AsyncLayout::type_callable_task, "type_CallableTask__"},
    {"type.CallbackTask", &AsyncLayout::type_callback_task, "type_CallbackTask__"},
    // The contexts of awaits are the first of their kinds, in V8 9.4 to 14.6.
    {"type.AwaitContext", &AsyncLayout::type_await_context, "FirstContextType"},
};

}  // namespace

AsyncLayout AsyncLayout::build(const ElfFile& file, const Layout& layout) {
  AsyncLayout async;
  if (!layout.is_known_version()) return async;
  for (const Field& field : kFields) {
    const bool moved = field.moved_in.major != 0 && layout.version >= field.moved_in;
    async.*field.member = {moved ? field.moved_to : field.offset, Origin::kVersionTable};
  }
  const Metadata metadata = Metadata::read(file);
  for (const Type& type : kTypes) {
    if (const auto number = metadata.find(type.symbol)) async.*type.member = {*number, Origin::kMetadata};
  }
  if (!layout.function_context.known()) async.type_await_context = {};
  find_builtin_facts(file, async);
  return async;
}

bool AsyncLayout::tells_promises() const {
  return std::ranges::all_of(kFields, [&](const Field& field) { return (this->*field.member).known(); }) &&
         std::ranges::all_of(kTypes, [&](const Type& type) { return (this->*type.member).known(); });
}

std::vector<NamedFact> list_facts(const AsyncLayout& layout) {
  std::vector<NamedFact> facts;
  for (const Field& field : kFields) facts.push_back({field.name, layout.*field.member});
  for (const Type& type : kTypes) facts.push_back({type.name, layout.*type.member});
  facts.push_back({"builtin.PromiseAllElement", layout.builtin_all_element});
  facts.push_back({"builtin.PromiseAllSettledElement", layout.builtin_all_settled_element});
  facts.push_back({"builtin.PromiseAnyElement", layout.builtin_any_element});
  facts.push_back({"builtin.ResolvePromise", layout.builtin_resolve_promise});
  facts.push_back({"root.current_microtask", layout.root_current_microtask});
  return facts;
}

}  // namespace nodescope::v8
