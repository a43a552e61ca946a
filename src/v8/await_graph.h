#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "v8/async_layout.h"
#include "v8/heap.h"

namespace nodescope::v8 {

// What joins several promises into one.
enum class Combinator : std::uint8_t { kNone, kAll, kAllSettled, kAny };

// "Promise.all"; empty for none.
std::string_view to_string(Combinator combinator);

// An async function that waits, or the combinator that one waits through.
struct Awaiter {
  TaggedWord generator;  // a JSAsyncFunctionObject or JSAsyncGeneratorObject; zero for a combinator
  Combinator combinator = Combinator::kNone;
  std::int32_t index = -1;  // which of the combinator's promises; -1: not known

  bool operator==(const Awaiter&) const = default;
};

// Why a chain of awaiters ends where it ends.
enum class ChainEnd : std::uint8_t {
  kNobody,   // nobody waits
  kSettled,  // the promise is not pending: whoever waited goes on already
  kSeveral,  // several wait: V8 names none of them
  kOther,    // what waits has no promise of its own: a callback
  kNotTold,  // memory that makes no sense, or a binary that does not tell its builtins
  kTooLong,  // kMaxChain, or a circle
};

std::string_view to_string(ChainEnd end);

struct AwaitChain {
  std::vector<Awaiter> awaiters;  // innermost first
  ChainEnd end = ChainEnd::kNobody;
};

// Where the chain of the microtask that runs begins.
struct ChainStart {
  enum class Kind : std::uint8_t {
    kNone,     // V8 looks for no chain here
    kPromise,  // what the microtask will settle
    kNotTold,
  };
  Kind kind = Kind::kNone;
  TaggedWord promise = {};
  TaggedWord generator = {};  // what the microtask has resumed; zero: a callback
};

// Who waits for whom among the promises of a heap, by the rule of V8's own asynchronous stack traces
// (CaptureAsyncStackTrace in src/execution/isolate.cc): a pending promise with exactly one reaction is
// followed to what that reaction will settle.
class AwaitGraph {
 public:
  static constexpr std::size_t kMaxChain = 200;
  static constexpr std::size_t kMaxReactions = 64;

  // The layout tells_promises().
  AwaitGraph(Heap& heap, const AsyncLayout& layout) : heap_(heap), layout_(layout) {}

  // What follows when the promise of a reaction is settled.
  struct Step {
    std::optional<Awaiter> awaiter = {};
    TaggedWord promise = {};          // that is settled in turn; zero: none
    ChainEnd end = ChainEnd::kOther;  // where there is none
  };
  Step step(TaggedWord reaction);

  AwaitChain chain(TaggedWord promise);

  bool is_pending(TaggedWord promise);
  // Of a pending promise, the newest first.
  std::vector<TaggedWord> reactions(TaggedWord promise, std::size_t limit = kMaxReactions);

  bool is_generator(TaggedWord word);
  // In an await, or a yield; not while it runs nor once it has ended.
  bool is_suspended(TaggedWord generator);
  bool is_running_or_ended(TaggedWord generator);
  // What the function returned, or the oldest call of next() of an async generator; zero: none.
  TaggedWord promise_of(TaggedWord generator);
  // The generator that a closure resumes; nothing for any other closure.
  std::optional<TaggedWord> resumed_by(TaggedWord closure);
  // Of the context of such a closure.
  std::optional<TaggedWord> generator_of_context(TaggedWord context);

  ChainStart start_of_microtask(TaggedWord microtask);
  bool is_microtask(TaggedWord word);
  // Whether this V8 names callers where a thenable is called.
  bool follows_thenables() const;
  // A JSPromise, or the one of a PromiseCapability; zero: neither.
  TaggedWord promise_in(TaggedWord promise_or_capability);

 private:
  std::optional<TaggedWord> load(TaggedWord object, const Fact& field);
  std::optional<TaggedWord> context_slot(TaggedWord context, int slot);
  // The builtin behind a closure; nothing when it is the user's function.
  std::optional<std::int32_t> builtin_of(TaggedWord closure);
  std::optional<Step> step_of_combinator(TaggedWord fulfill, TaggedWord reject);

  Heap& heap_;
  const AsyncLayout& layout_;
};

}  // namespace nodescope::v8
