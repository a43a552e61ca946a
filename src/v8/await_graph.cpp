#include "v8/await_graph.h"

#include <bit>

#include "base/flat_map.h"
#include "v8/objects.h"

namespace nodescope::v8 {

namespace {

// JSGeneratorObject::kGeneratorExecuting; it stays so when an async function has ended.
constexpr std::int32_t kExecuting = -2;

constexpr std::uint32_t kStatusMask = 3;  // 0: pending

// Slots of the contexts of builtin closures (src/builtins/builtins-promise.h and promise-misc.tq).
constexpr int kAwaitGenerator = 2;
constexpr int kElementCapability = 3;
constexpr int kResolvedPromise = 2;

// Since V8 14 what a thenable will settle has callers, too.
constexpr Version kFollowsThenables{14, 0, 0};

// A closure of a combinator keeps its place, counted from 1, where objects have their hash.
constexpr int kElementIndex = 8;

}  // namespace

std::string_view to_string(Combinator combinator) {
  switch (combinator) {
    case Combinator::kNone:
      return {};
    case Combinator::kAll:
      return "Promise.all";
    case Combinator::kAllSettled:
      return "Promise.allSettled";
    case Combinator::kAny:
      return "Promise.any";
  }
  return {};
}

std::string_view to_string(ChainEnd end) {
  switch (end) {
    case ChainEnd::kNobody:
      return "nobody waits";
    case ChainEnd::kSettled:
      return "already settled";
    case ChainEnd::kSeveral:
      return "several wait";
    case ChainEnd::kOther:
      return "a callback";
    case ChainEnd::kNotTold:
      return "not known";
    case ChainEnd::kTooLong:
      return "too long";
  }
  return "not known";
}

// A collector that moves objects just now leaves their new places behind.
std::optional<TaggedWord> AwaitGraph::load(TaggedWord object, const Fact& field) {
  const auto word = heap_.field(object, field);
  return word ? std::optional(heap_.moved(*word)) : std::nullopt;
}

std::optional<TaggedWord> AwaitGraph::context_slot(TaggedWord context, int slot) {
  const auto word = heap_.field(context, layout_.context_slots.value + 8 * slot);
  return word ? std::optional(heap_.moved(*word)) : std::nullopt;
}

bool AwaitGraph::is_generator(TaggedWord word) {
  const int type = heap_.type(word);
  return layout_.type_async_function_object.is(type) || layout_.type_async_generator_object.is(type);
}

bool AwaitGraph::is_suspended(TaggedWord generator) {
  const auto continuation = heap_.field(generator, layout_.generator_continuation);
  return continuation && continuation->is_smi() && continuation->smi() >= 0;
}

bool AwaitGraph::is_running_or_ended(TaggedWord generator) {
  const auto continuation = heap_.field(generator, layout_.generator_continuation);
  return continuation && continuation->is_smi() && continuation->smi() == kExecuting;
}

TaggedWord AwaitGraph::promise_in(TaggedWord word) {
  if (heap_.is(word, layout_.type_promise)) return word;
  if (!heap_.is(word, layout_.type_promise_capability)) return {};
  const auto promise = load(word, layout_.capability_promise);
  return promise && heap_.is(*promise, layout_.type_promise) ? *promise : TaggedWord{};
}

TaggedWord AwaitGraph::promise_of(TaggedWord generator) {
  std::optional<TaggedWord> promise;
  if (heap_.is(generator, layout_.type_async_generator_object)) {
    const auto request = load(generator, layout_.async_generator_queue);
    if (!request || !heap_.is(*request, layout_.type_generator_request)) return {};
    promise = load(*request, layout_.generator_request_promise);
  } else {
    promise = load(generator, layout_.async_function_promise);
  }
  return promise && heap_.is(*promise, layout_.type_promise) ? *promise : TaggedWord{};
}

std::optional<TaggedWord> AwaitGraph::generator_of_context(TaggedWord context) {
  if (!heap_.is(context, layout_.type_await_context)) return std::nullopt;
  const auto generator = context_slot(context, kAwaitGenerator);
  return generator && is_generator(*generator) ? generator : std::nullopt;
}

std::optional<TaggedWord> AwaitGraph::resumed_by(TaggedWord closure) {
  if (!heap_.is_function(closure)) return std::nullopt;
  const auto context = load(closure, heap_.layout().function_context);
  return context ? generator_of_context(*context) : std::nullopt;
}

bool AwaitGraph::is_pending(TaggedWord promise) {
  const auto flags = heap_.field(promise, layout_.promise_flags);
  return flags && flags->is_smi() && (static_cast<std::uint32_t>(flags->smi()) & kStatusMask) == 0;
}

std::vector<TaggedWord> AwaitGraph::reactions(TaggedWord promise, std::size_t limit) {
  std::vector<TaggedWord> reactions;
  if (!is_pending(promise)) return reactions;
  auto reaction = load(promise, layout_.promise_reactions);
  TaggedWord mark;  // of earlier ones; the list leads back to it when it is a circle
  while (reaction && heap_.is(*reaction, layout_.type_promise_reaction) && reactions.size() < limit) {
    if (*reaction == mark) break;
    if (std::has_single_bit(reactions.size())) mark = *reaction;
    reactions.push_back(*reaction);
    reaction = load(*reaction, layout_.reaction_next);
  }
  return reactions;
}

std::optional<std::int32_t> AwaitGraph::builtin_of(TaggedWord closure) {
  const auto shared = shared_of_function(heap_, closure);
  const auto builtin = shared ? heap_.field(*shared, layout_.shared_builtin) : std::nullopt;
  return builtin && builtin->is_smi() ? std::optional(builtin->smi()) : std::nullopt;
}

std::optional<AwaitGraph::Step> AwaitGraph::step_of_combinator(TaggedWord fulfill, TaggedWord reject) {
  const auto on_fulfilled = builtin_of(fulfill);
  const auto on_rejected = builtin_of(reject);
  Awaiter awaiter;
  TaggedWord closure = fulfill;
  if (on_fulfilled && layout_.builtin_all_element.is(*on_fulfilled)) {
    awaiter.combinator = Combinator::kAll;
  } else if (on_fulfilled && layout_.builtin_all_settled_element.is(*on_fulfilled)) {
    awaiter.combinator = Combinator::kAllSettled;
  } else if (on_rejected && layout_.builtin_any_element.is(*on_rejected)) {
    awaiter.combinator = Combinator::kAny;
    closure = reject;
  } else {
    return std::nullopt;
  }
  if (const auto index = heap_.field(closure, kElementIndex); index && index->is_smi() && index->smi() > 0)
    awaiter.index = index->smi() - 1;
  Step step{.awaiter = awaiter, .promise = {}, .end = ChainEnd::kSettled};
  const auto context = load(closure, heap_.layout().function_context);
  const auto capability = context ? context_slot(*context, kElementCapability) : std::nullopt;
  if (capability) step.promise = promise_in(*capability);
  return step;
}

AwaitGraph::Step AwaitGraph::step(TaggedWord reaction) {
  const auto fulfill = load(reaction, layout_.reaction_fulfill);
  const auto reject = load(reaction, layout_.reaction_reject);
  if (!fulfill || !reject) return {.end = ChainEnd::kNotTold};
  if (const auto generator = resumed_by(*fulfill))
    return {.awaiter = Awaiter{.generator = *generator}, .promise = promise_of(*generator)};
  if (auto step = step_of_combinator(*fulfill, *reject)) return *step;
  const auto builtin = builtin_of(*fulfill);
  if (builtin && layout_.builtin_resolve_promise.is(*builtin)) {
    const auto context = load(*fulfill, heap_.layout().function_context);
    const auto promise = context ? context_slot(*context, kResolvedPromise) : std::nullopt;
    return {.promise = promise ? promise_in(*promise) : TaggedWord{}, .end = ChainEnd::kNotTold};
  }
  // A builtin that cannot be told may be any of these.
  if (builtin && !layout_.builtin_all_element.known()) return {.end = ChainEnd::kNotTold};
  const auto next = load(reaction, layout_.reaction_promise);
  return {.promise = next ? promise_in(*next) : TaggedWord{}};
}

AwaitChain AwaitGraph::chain(TaggedWord promise) {
  AwaitChain chain;
  FlatMap<std::uint64_t, bool> seen;
  while (true) {
    if (seen.size() >= kMaxChain || !seen.emplace(promise.value, true).second) {
      chain.end = ChainEnd::kTooLong;
      return chain;
    }
    if (!is_pending(promise)) {
      chain.end = ChainEnd::kSettled;
      return chain;
    }
    const auto waiting = reactions(promise);
    if (waiting.size() != 1) {
      chain.end = waiting.empty() ? ChainEnd::kNobody : ChainEnd::kSeveral;
      return chain;
    }
    const Step next = step(waiting[0]);
    if (next.awaiter) chain.awaiters.push_back(*next.awaiter);
    if (next.promise == TaggedWord{}) {
      chain.end = next.end;
      return chain;
    }
    promise = next.promise;
  }
}

bool AwaitGraph::follows_thenables() const {
  return heap_.layout().version >= kFollowsThenables;
}

bool AwaitGraph::is_microtask(TaggedWord word) {
  const int type = heap_.type(word);
  for (const Fact* known : {&layout_.type_fulfill_job, &layout_.type_reject_job, &layout_.type_thenable_job,
                            &layout_.type_callable_task, &layout_.type_callback_task}) {
    if (type >= 0 && known->is(type)) return true;
  }
  return false;
}

ChainStart AwaitGraph::start_of_microtask(TaggedWord microtask) {
  const int type = heap_.type(microtask);
  if (layout_.type_thenable_job.is(type) && follows_thenables()) {
    const auto promise = heap_.field(microtask, layout_.thenable_job_promise);
    const TaggedWord settled = promise ? promise_in(heap_.moved(*promise)) : TaggedWord{};
    if (settled == TaggedWord{}) return {ChainStart::Kind::kNotTold, {}, {}};
    return {ChainStart::Kind::kPromise, settled, {}};
  }
  if (!layout_.type_fulfill_job.is(type) && !layout_.type_reject_job.is(type)) return {};
  const auto handler = load(microtask, layout_.reaction_job_handler);
  const auto generator = handler ? resumed_by(*handler) : std::nullopt;
  if (generator) {
    if (!is_running_or_ended(*generator)) return {};
    const TaggedWord promise = promise_of(*generator);
    if (promise == TaggedWord{}) return {ChainStart::Kind::kNone, {}, *generator};
    return {ChainStart::Kind::kPromise, promise, *generator};
  }
  const auto promise = load(microtask, layout_.reaction_job_promise);
  if (!promise || !heap_.is(*promise, layout_.type_promise)) return {};
  return {ChainStart::Kind::kPromise, *promise, {}};
}

}  // namespace nodescope::v8
