#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"
#include "binary/unwinder.h"
#include "target/images.h"
#include "target/process.h"
#include "target/snapshot_memory.h"
#include "target/written_names.h"
#include "v8/async_reader.h"
#include "v8/code_finder.h"
#include "v8/code_space.h"
#include "v8/engine.h"
#include "v8/exit_frame.h"
#include "v8/frame_reader.h"
#include "v8/heap.h"
#include "v8/layout.h"
#include "v8/scripts.h"

namespace nodescope::v8 {

struct NativeFrame {
  Address pc;
  bool is_return_address = true;
};

using StackEntry = std::variant<NativeFrame, Frame>;

// The stack of a thread, innermost first.
struct Stack {
  std::vector<StackEntry> entries;
  UnwindEnd end = UnwindEnd::kRoot;
  // Native code that could not be unwound was left out: what follows is where the thread left JavaScript.
  bool has_gap = false;
  // Where they were asked for.
  AsyncCallers async;
  // Which of the entries is the innermost of those that run microtasks: V8 shows the asynchronous callers in
  // their place.
  std::optional<std::size_t> runner;
};

struct NativeSymbol {
  std::string name;  // empty: not known
  std::string module;
  bool is_written = false;  // a WrittenNames' name: another may be there soon
};

// Everything that is needed to read the stacks of a process; of a live one it is prepared while it runs.
class ProcessView final : private CodeMap {
 public:
  // For stacks of a process that stands still.  kUnsupported unless it runs Node.js.
  static Result<std::unique_ptr<ProcessView>> open(std::unique_ptr<TargetProcess> process, ViewCache& cache,
                                                   Diagnostics& diagnostics);
  // Any program; one that is not Node.js has only native frames.
  static std::unique_ptr<ProcessView> open_any(std::unique_ptr<TargetProcess> process, ViewCache& cache,
                                               Diagnostics& diagnostics);
  ~ProcessView() override;

  const TargetProcess& process() const { return *process_; }
  TargetProcess& process() { return *process_; }
  // Null when it is not Node.js.
  const Layout* layout() const;
  const Engine* engine() const;
  // Only of Node.js, and while the process stands still.
  Heap& heap();
  Scripts& scripts();

  // The process may have mapped something since the last time.
  Result<void> refresh_map(Diagnostics& diagnostics);
  // All of it is known to be V8's code, so that a change of its protection needs no refresh_map.
  bool is_known_code(Range<Address> range) const;
  // The memory may have changed since the last time.
  void begin_generation();

  // The stack as it is now, of a process that stands still.  `thread_pointer` (fs_base) finds the part in
  // JavaScript when native code cannot be unwound; 0: not known.
  Stack read_stack(const RegisterSet& registers, std::uint64_t thread_pointer = 0);
  // The stack as it was when the copy was made, with as little trust in what has happened since as possible.
  Stack read_stack(const RegisterSet& registers, StackSnapshot stack);

  // From now on frames come with what their functions were called with.
  void read_arguments() { reads_arguments_ = true; }

  // From now on stacks come with their asynchronous callers.  False: this binary does not tell them.
  bool read_async_callers();

  // Native functions that words near the beginning of a thread's stack point into, outermost first: for what
  // a thread was started, when its stack cannot be followed that far.  Some may be leftovers.
  std::vector<std::string> functions_at_stack_begin(Address stack_pointer);

  // These may be called after it went on.
  NativeSymbol resolve(const NativeFrame& frame, Diagnostics& diagnostics);
  // What the process itself has written down about generated code at `pc`; empty: nothing.  It may be about
  // code that was there before.
  std::string written_name(Address pc, Diagnostics& diagnostics) {
    return written_names_.find(*process_, pc, diagnostics);
  }
  const std::string& script_name(ScriptId script) const;
  std::optional<LineColumn> place(ScriptId script, std::int32_t offset);

 private:
  struct V8;

  ProcessView(std::unique_ptr<TargetProcess> process, ViewCache& cache);

  void find_engine(ViewCache& cache, Diagnostics& diagnostics);
  void find_exit_frames();
  CodeRegion find(Address pc) override;
  std::span<const std::byte> code(Range<Address> range) override;
  std::optional<Address> function_begin(Address pc) override;
  std::optional<std::uint64_t> word_now(Address address) override {
    return memory_.load<std::uint64_t>(address);
  }

  CodeSpace derive_code_space();
  std::vector<Range<Address>> derive_generated_code() const;
  bool is_node_binary(const Region& region) const;
  // How a walk begins.
  struct WalkFrom {
    bool at_return_address = false;  // where a call returns to, not where a thread stands
    bool stands_still = false;       // the process has not gone on since
    std::optional<Address> root;     // what the thread's root register is, then
  };

  Stack walk(const RegisterSet& registers, StackSnapshot snapshot, WalkFrom from);
  void continue_at_exit(Stack& stack, StackSnapshot snapshot, std::uint64_t thread_pointer);
  std::optional<Address> root_of(const RegisterSet& registers, std::uint64_t thread_pointer);
  void add_async_callers(Stack& stack, UnwoundFrames frames, std::size_t runner, const WalkFrom& from);
  void add_arguments(const PhysicalFrame& physical, Frame& frame);
  std::string copy_stack(Address stack_pointer);
  std::optional<Symbol> symbol_at(Address pc);
  NativeSymbol resolve_at(Address pc, Diagnostics& diagnostics);

  std::unique_ptr<TargetProcess> process_;
  Memory& memory_;
  SnapshotMemory stack_and_memory_;
  Images images_;
  std::vector<Range<Address>> generated_code_;  // sorted
  CodeSpace space_;
  std::unique_ptr<V8> v8_;  // null: not Node.js
  Unwinder unwinder_;
  std::string code_bytes_;
  WrittenNames written_names_;
  bool reads_arguments_ = false;
  bool reads_async_callers_ = false;
};

}  // namespace nodescope::v8
