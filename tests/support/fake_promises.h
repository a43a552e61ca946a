#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "support/fake_v8.h"
#include "v8/async_layout.h"

namespace nodescope::testing {

inline v8::AsyncLayout async_layout_of_node_20() {
  v8::AsyncLayout layout;
  const auto set = [](v8::Fact& fact, std::int32_t value) { fact = {value, v8::Origin::kMetadata}; };
  set(layout.generator_function, 24);
  set(layout.generator_receiver, 40);
  set(layout.generator_position, 48);
  set(layout.generator_continuation, 64);
  set(layout.async_function_promise, 80);
  set(layout.async_generator_queue, 80);
  set(layout.generator_request_promise, 32);
  set(layout.promise_reactions, 24);
  set(layout.promise_flags, 32);
  set(layout.capability_promise, 8);
  set(layout.reaction_next, 8);
  set(layout.reaction_reject, 16);
  set(layout.reaction_fulfill, 24);
  set(layout.reaction_promise, 32);
  set(layout.reaction_job_handler, 24);
  set(layout.reaction_job_promise, 32);
  set(layout.thenable_job_promise, 16);
  set(layout.context_slots, 16);
  set(layout.shared_builtin, 8);
  set(layout.type_async_function_object, 1063);
  set(layout.type_async_generator_object, 1064);
  set(layout.type_generator_request, 143);
  set(layout.type_promise, 1075);
  set(layout.type_promise_reaction, 166);
  set(layout.type_promise_capability, 164);
  set(layout.type_fulfill_job, 138);
  set(layout.type_reject_job, 139);
  set(layout.type_thenable_job, 140);
  set(layout.type_callable_task, 136);
  set(layout.type_callback_task, 137);
  set(layout.type_await_context, 240);
  set(layout.builtin_all_element, 1201);
  set(layout.builtin_all_settled_element, 1202);
  set(layout.builtin_any_element, 1203);
  set(layout.builtin_resolve_promise, 1204);
  set(layout.root_current_microtask, 6880);
  return layout;
}

// With what closures need besides.
inline v8::Layout layout_with_closures() {
  v8::Layout layout = layout_of_node_20();
  layout.function_context = {32, v8::Origin::kMetadata};
  return layout;
}

// Promises and async functions as V8 11.3 has them, in a FakeHeap.
class FakePromises {
 public:
  explicit FakePromises(FakeHeap& heap) : heap_(heap) {
    // Position table: bytecode 0 at script offset 2, bytecode 4 at script offset 11.
    const auto positions = heap.bytes(std::string_view("\x02\x0c\x08\x24", 4));
    bytecode_ = heap.bytecode_array("\x10\x11\x12\x13\x14\x15\x16\x17", positions);
    script_ = heap.script("/app/a.js", "line one\nline two\nline three\n");
  }

  v8::TaggedWord promise() { return heap_.object(1075, {0, 0, FakeHeap::smi(0), FakeHeap::smi(0)}); }

  void settle(v8::TaggedWord promise) { put(promise, 32, FakeHeap::smi(1)); }

  // Suspended at the bytecode with this offset, and settles `promise` at its end.
  v8::TaggedWord async_function(std::string_view name, v8::TaggedWord promise, std::int32_t offset = 4) {
    auto& shared = shared_[std::string(name)];  // every call of a function is of the same function
    if (shared == v8::TaggedWord{}) shared = heap_.shared(name, script_, bytecode_);
    const auto function = heap_.function(shared);
    return heap_.object(1063, {0, 0, function.value, 0, 0, FakeHeap::smi(54 - 1 + offset), 0,
                               FakeHeap::smi(1), 0, promise.value});
  }

  // An async generator whose oldest call of next() is answered by `promise`.
  v8::TaggedWord async_generator(std::string_view name, v8::TaggedWord promise) {
    const auto request = heap_.object(143, {0, 0, 0, promise.value});
    const auto generator = async_function(name, request);
    const auto map = heap_.map(1064);
    put(generator, 0, map.value + 1);
    return generator;
  }

  void run(v8::TaggedWord generator) { put(generator, 64, FakeHeap::smi(-2)); }

  v8::TaggedWord closure(v8::TaggedWord context, std::int32_t builtin, std::uint64_t hash = 0) {
    const auto shared = heap_.object(262, {FakeHeap::smi(builtin), 0, 0, 0, 0, 0});
    return heap_.object(2066, {hash, 0, shared.value, context.value, 0, 0});
  }

  // The closure that resumes an async function.
  v8::TaggedWord resumes(v8::TaggedWord generator) {
    return closure(heap_.object(240, {FakeHeap::smi(3), 0, 0, generator.value}), 700);
  }

  v8::TaggedWord capability(v8::TaggedWord promise) { return heap_.object(164, {promise.value, 0, 0}); }

  // Of element `index` of a combinator whose result is `promise`.
  v8::TaggedWord element(std::int32_t builtin, std::int32_t index, v8::TaggedWord promise) {
    const auto context = heap_.object(241, {FakeHeap::smi(4), 0, 0, 0, capability(promise).value});
    return closure(context, builtin, FakeHeap::smi(index + 1));
  }

  // Adds a reaction to a pending promise.
  v8::TaggedWord react(v8::TaggedWord promise, v8::TaggedWord fulfill, v8::TaggedWord reject,
                       v8::TaggedWord next) {
    const auto before = heap_.memory.load<std::uint64_t>(promise.address() + 24).value_or(0);
    const auto reaction = heap_.object(166, {before, reject.value, fulfill.value, next.value, 0});
    put(promise, 24, reaction.value);
    return reaction;
  }

  // `generator` awaits `promise`.
  v8::TaggedWord await(v8::TaggedWord generator, v8::TaggedWord promise) {
    const auto closure = resumes(generator);
    return react(promise, closure, closure, {});
  }

  v8::TaggedWord job(v8::TaggedWord handler, v8::TaggedWord promise, int type = 138) {
    return heap_.object(type, {0, 0, handler.value, promise.value, 0});
  }

  void put(v8::TaggedWord object, std::uint64_t offset, std::uint64_t word) {
    heap_.memory.put(object.address() + offset, word);
  }

 private:
  FakeHeap& heap_;
  v8::TaggedWord bytecode_;
  v8::TaggedWord script_;
  std::map<std::string, v8::TaggedWord> shared_;  // by name
};

}  // namespace nodescope::testing
