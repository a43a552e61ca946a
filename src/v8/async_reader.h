#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/flat_map.h"
#include "v8/await_graph.h"
#include "v8/code_space.h"
#include "v8/frame_reader.h"
#include "v8/functions.h"
#include "v8/heap.h"
#include "v8/object_cache.h"
#include "v8/scripts.h"

namespace nodescope::v8 {

// An asynchronous caller, as V8 prints it: "at async handler (api.js:11)".
struct AsyncCaller {
  Frame frame;  // where the function waits; of a combinator only its name
  Combinator combinator = Combinator::kNone;
  std::int32_t index = -1;  // in the list given to the combinator
};

// What is known about the asynchronous callers of a stack.
struct AsyncCallers {
  std::vector<AsyncCaller> callers;  // innermost first
  ChainEnd end = ChainEnd::kNobody;
  // The stack runs in a microtask whose callers could not be told.
  bool lost = false;
};

// The frames of a stack as the unwinder found them, innermost first.
struct UnwoundFrames {
  std::span<const Address> pcs;
  std::span<const Address> frame_pointers;
};

// Tells the asynchronous callers of a stack.
class AsyncReader {
 public:
  // The layout tells_promises().
  AsyncReader(Heap& heap, const AsyncLayout& layout, const CodeSpace& space, Scripts& scripts)
      : heap_(heap), layout_(layout), space_(space), graph_(heap, layout), functions_(heap, scripts) {}

  // The innermost frame of the builtin that runs microtasks; nothing when none runs.
  std::optional<std::size_t> find_runner(std::span<const Address> pcs);

  // How a stack was read.
  struct Reading {
    std::optional<Address> root = {};  // the isolate's root register, of a thread that stands still
    bool stands_still = true;          // else the heap is that of a moment later
    TaggedWord resumed = {};  // the outermost function that the runner's microtask runs; zero: not known
  };
  AsyncCallers read(UnwoundFrames frames, std::size_t runner, const Reading& reading);

  // Where a suspended async function waits; nothing when it is none.
  std::optional<AsyncCaller> describe(const Awaiter& awaiter);

  bool is_async_generator(TaggedWord word) { return heap_.is(word, layout_.type_async_generator_object); }

  AwaitGraph& graph() { return graph_; }

  // The memory may have changed.
  void begin_generation();

 private:
  enum class Role : std::uint8_t { kOther, kRunner, kAwait, kReactionJob, kThenableJob };

  Role role_of(Address pc);
  ChainStart start_of_root(Address root);
  ChainStart start_of_frames(UnwoundFrames frames, std::size_t runner);
  std::optional<ChainStart> start_of_await(Address frame_pointer, Address top);
  std::optional<ChainStart> start_of_job(Address frame_pointer, Address top);
  ChainStart start_of_runner(Address frame_pointer, Address top);
  bool may_be_another(const ChainStart& start, const Reading& reading);
  std::int32_t position_of(const Function& function, TaggedWord generator);

  Heap& heap_;
  const AsyncLayout& layout_;
  const CodeSpace& space_;
  AwaitGraph graph_;
  Functions functions_;
  ObjectCache<BytecodeArray> bytecodes_;
  FlatMap<std::uint64_t, Role> roles_;  // by pc
};

}  // namespace nodescope::v8
