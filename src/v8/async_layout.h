#pragma once

#include <vector>

#include "binary/elf_file.h"
#include "v8/layout.h"

namespace nodescope::v8 {

// What reading promises, and async functions while they are suspended, needs to know about the V8 in one
// binary. Offsets are from the beginning of an object, without its tag.
struct AsyncLayout {
  Fact generator_function, generator_receiver, generator_position, generator_continuation,
      async_function_promise, async_generator_queue, generator_request_promise;
  Fact promise_reactions, promise_flags, capability_promise;
  Fact reaction_next, reaction_reject, reaction_fulfill, reaction_promise, reaction_context;
  Fact reaction_job_handler, reaction_job_promise, thenable_job_promise;
  Fact context_slots, shared_builtin;
  Fact type_async_function_object, type_async_generator_object, type_generator_request, type_promise,
      type_promise_reaction, type_promise_capability, type_fulfill_job, type_reject_job, type_thenable_job,
      type_callable_task, type_callback_task, type_await_context, type_map;
  // Numbers of builtins, and where the isolate keeps the microtask that runs, from its root register.
  Fact builtin_all_element, builtin_all_settled_element, builtin_any_element, builtin_resolve_promise;
  Fact root_current_microtask;

  static AsyncLayout build(const ElfFile& file, const Layout& layout);

  // Whether chains can be followed.  The numbers of builtins are not needed for that: without them a chain
  // ends at a combinator, and says so.
  bool tells_promises() const;
  bool tells_microtasks() const { return tells_promises() && root_current_microtask.known(); }
};

std::vector<NamedFact> list_facts(const AsyncLayout& layout);

}  // namespace nodescope::v8
