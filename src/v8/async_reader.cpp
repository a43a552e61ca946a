#include "v8/async_reader.h"

#include <algorithm>
#include <string>

#include "v8/positions.h"

namespace nodescope::v8 {

namespace {

constexpr std::size_t kMaxKnownPlaces = 1 << 16;

// How far below its frame pointer a builtin's slots are searched.
constexpr std::uint64_t kMaxSlotBytes = 512;

constexpr std::uint64_t kWordBytes = 8;

// Map, length, constants, handlers and positions; behind them is an age that changes.
constexpr std::size_t kBytecodeIdentityBytes = 40;

// The slots of a frame, from the one below its function down to its callee's frame.
struct Slots {
  Slots(Address frame_pointer, Address top)
      : begin(frame_pointer - 2 * kWordBytes), end(std::max(top, frame_pointer - kMaxSlotBytes)) {}
  Address begin;
  Address end;
};

template <typename Visit>
void for_each_slot(Heap& heap, Slots slots, Visit visit) {
  for (Address at = slots.begin; at > slots.end; at = at - kWordBytes) {
    const auto word = heap.word(at);
    if (word && word->is_object() && visit(heap.moved(*word))) return;
  }
}

}  // namespace

AsyncReader::Role AsyncReader::role_of(Address pc) {
  const auto known = roles_.find(pc.value);
  if (known != roles_.end()) return known->second;
  const std::string name = space_.builtin_name(pc);
  Role role = Role::kOther;
  if (name.starts_with("RunMicrotasks")) {
    role = Role::kRunner;
  } else if (name == "PromiseFulfillReactionJob" || name == "PromiseRejectReactionJob") {
    role = Role::kReactionJob;
  } else if (name == "PromiseResolveThenableJob" && graph_.follows_thenables()) {
    role = Role::kThenableJob;
  } else if (name.find("Await") != std::string::npos || name.find("AsyncGenerator") != std::string::npos) {
    role = Role::kAwait;
  }
  if (roles_.size() >= kMaxKnownPlaces) roles_.clear();
  return roles_.emplace(pc.value, role).first->second;
}

std::optional<std::size_t> AsyncReader::find_runner(std::span<const Address> pcs) {
  for (std::size_t i = 0; i < pcs.size(); ++i) {
    const Address pc = i == 0 ? pcs[i] : pcs[i] - 1;
    if (space_.kind(pc) == CodeSpace::Kind::kBuiltin && role_of(pc) == Role::kRunner) return i;
  }
  return std::nullopt;
}

// An odd word, or an object that is no microtask: the place is not what this V8 was expected to have there.
ChainStart AsyncReader::start_of_root(Address root) {
  const Fact& place = layout_.root_current_microtask;
  if (!place.known()) return {.kind = ChainStart::Kind::kNotTold};
  const auto word = heap_.word(root + static_cast<std::uint64_t>(std::int64_t{place.value}));
  const TaggedWord microtask = word ? heap_.moved(*word) : TaggedWord{};
  if (graph_.is_microtask(microtask)) return graph_.start_of_microtask(microtask);
  if (heap_.is(microtask, heap_.layout().type_oddball)) return {};
  return {.kind = ChainStart::Kind::kNotTold};
}

// A closure that resumes a function, in its own frame or below the frame of what it calls last.
std::optional<ChainStart> AsyncReader::start_of_await(Address frame_pointer, Address top) {
  const Layout& layout = heap_.layout();
  const auto slot = [&](const Fact& offset) {
    const auto word = heap_.word(frame_pointer + static_cast<std::uint64_t>(std::int64_t{offset.value}));
    return word ? heap_.moved(*word) : TaggedWord{};
  };
  std::optional<TaggedWord> generator = graph_.generator_of_context(slot(layout.frame_context));
  if (!generator) generator = graph_.resumed_by(slot(layout.frame_function));
  if (!generator) {
    for_each_slot(heap_, {frame_pointer, top}, [&](TaggedWord word) {
      if (!heap_.is(word, layout_.type_async_generator_object) || !graph_.is_running_or_ended(word))
        return false;
      generator = word;
      return true;
    });
  }
  if (!generator || !graph_.is_running_or_ended(*generator)) return std::nullopt;
  const TaggedWord promise = graph_.promise_of(*generator);
  if (promise == TaggedWord{}) return ChainStart{ChainStart::Kind::kNone, {}, *generator};
  return ChainStart{ChainStart::Kind::kPromise, promise, *generator};
}

std::optional<ChainStart> AsyncReader::start_of_job(Address frame_pointer, Address top) {
  std::optional<ChainStart> start;
  for_each_slot(heap_, {frame_pointer, top}, [&](TaggedWord word) {
    if (graph_.promise_in(word) == TaggedWord{}) return false;
    // V8 follows a promise of its own here, not the capability of a subclass.
    const bool is_promise = heap_.is(word, layout_.type_promise);
    start = is_promise ? ChainStart{ChainStart::Kind::kPromise, word, {}} : ChainStart{};
    return true;
  });
  return start;
}

ChainStart AsyncReader::start_of_runner(Address frame_pointer, Address top) {
  ChainStart start{.kind = ChainStart::Kind::kNotTold};
  for_each_slot(heap_, {frame_pointer, top}, [&](TaggedWord word) {
    if (!graph_.is_microtask(word)) return false;
    start = graph_.start_of_microtask(word);
    return true;
  });
  return start;
}

// The frames between the runner and the function that it runs are those of builtins.  The outermost of the
// closures is the one that the microtask called.  A microtask without a promise (queueMicrotask) has no job.
ChainStart AsyncReader::start_of_frames(UnwoundFrames frames, std::size_t runner) {
  std::optional<ChainStart> found;
  bool has_job = false;
  Address top;
  for (std::size_t i = 0; i <= runner && i < frames.frame_pointers.size(); ++i) {
    const Address pc = i == 0 ? frames.pcs[i] : frames.pcs[i] - 1;
    const Address frame_pointer = frames.frame_pointers[i];
    if (frame_pointer.value == 0 || space_.kind(pc) != CodeSpace::Kind::kBuiltin) {
      if (frame_pointer.value != 0) top = frame_pointer + kWordBytes;
      continue;
    }
    const Role role = role_of(pc);
    if (role == Role::kRunner) {
      if (!found) found = start_of_runner(frame_pointer, top);
      const bool is_none = found->kind == ChainStart::Kind::kNotTold && !has_job;
      return is_none ? ChainStart() : *found;
    }
    has_job = has_job || role == Role::kReactionJob || role == Role::kThenableJob;
    if (role == Role::kAwait) {
      if (const auto start = start_of_await(frame_pointer, top)) found = start;
    } else if (role == Role::kReactionJob && !found) {
      found = start_of_job(frame_pointer, top);
    }
    top = frame_pointer + kWordBytes;
  }
  return {.kind = ChainStart::Kind::kNotTold};
}

// A collector may have put another function in the place of the one that was resumed.
bool AsyncReader::may_be_another(const ChainStart& start, const Reading& reading) {
  if (reading.stands_still || start.generator == TaggedWord{} || reading.resumed == TaggedWord{})
    return false;
  const auto closure = heap_.field(start.generator, layout_.generator_function);
  return !closure || shared_of_function(heap_, heap_.moved(*closure)) != reading.resumed;
}

AsyncCallers AsyncReader::read(UnwoundFrames frames, std::size_t runner, const Reading& reading) {
  AsyncCallers result;
  ChainStart start{.kind = ChainStart::Kind::kNotTold};
  if (reading.root) start = start_of_root(*reading.root);
  if (start.kind == ChainStart::Kind::kNotTold) start = start_of_frames(frames, runner);
  if (start.kind == ChainStart::Kind::kNone) return result;
  if (start.kind == ChainStart::Kind::kNotTold || may_be_another(start, reading)) {
    result.lost = true;
    return result;
  }
  const AwaitChain chain = graph_.chain(start.promise);
  result.end = chain.end;
  // A moment later a settled promise means that whoever waited for it is gone.
  result.lost = chain.end == ChainEnd::kNotTold || (!reading.stands_still && chain.end == ChainEnd::kSettled);
  for (const Awaiter& awaiter : chain.awaiters) {
    auto caller = describe(awaiter);
    if (!caller) {
      result.lost = true;
      break;
    }
    result.callers.push_back(std::move(*caller));
  }
  return result;
}

// Where a generator is suspended is kept as an offset in its bytecode, counted like the interpreter's.
std::int32_t AsyncReader::position_of(const Function& function, TaggedWord generator) {
  const Layout& layout = heap_.layout();
  const auto bytecode = function.shared.bytecode();
  const auto offset = heap_.field(generator, layout_.generator_position);
  if (!bytecode || !offset || !offset->is_smi() || !graph_.is_suspended(generator)) return -1;
  const BytecodeArray* array = bytecodes_.find(heap_.memory(), bytecode->address(), kBytecodeIdentityBytes,
                                               [&] { return BytecodeArray::load(heap_, *bytecode); });
  const std::int64_t index = std::int64_t{offset->smi()} - (layout.bytecodes.value - 1);
  if (array == nullptr || index < 0 || index >= static_cast<std::int64_t>(array->bytecodes().size()))
    return -1;
  const auto encoding =
      layout.version >= Version{13, 7, 0} ? PositionEncoding::kFlags : PositionEncoding::kSigned;
  const auto position = find_position(array->positions(), index, encoding);
  return position && !position->is_external() ? position->offset() : -1;
}

std::optional<AsyncCaller> AsyncReader::describe(const Awaiter& awaiter) {
  AsyncCaller caller;
  caller.frame.kind = FrameKind::kJs;
  if (awaiter.combinator != Combinator::kNone) {
    caller.combinator = awaiter.combinator;
    caller.index = awaiter.index;
    caller.frame.function = to_string(awaiter.combinator);
    return caller;
  }
  const auto closure = heap_.field(awaiter.generator, layout_.generator_function);
  const auto shared = closure ? shared_of_function(heap_, heap_.moved(*closure)) : std::nullopt;
  Function* function = shared ? functions_.find(*shared) : nullptr;
  if (function == nullptr || !function->shared.script()) return std::nullopt;
  const auto receiver = heap_.field(awaiter.generator, layout_.generator_receiver);
  caller.frame.function = functions_.name(
      *function, Closure{.function = heap_.moved(*closure),
                         .receiver = receiver ? std::optional(heap_.moved(*receiver)) : receiver});
  caller.frame.script = function->script;
  caller.frame.shared = function->shared.word();
  caller.frame.function_offset = function->shared.start();
  caller.frame.offset = position_of(*function, awaiter.generator);
  caller.frame.sure = caller.frame.offset >= 0;
  return caller;
}

void AsyncReader::begin_generation() {
  functions_.begin_generation();
  bytecodes_.begin_generation();
}

}  // namespace nodescope::v8
