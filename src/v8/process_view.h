#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/diagnostics.h"
#include "base/result.h"
#include "binary/unwinder.h"
#include "target/images.h"
#include "target/live_memory.h"
#include "target/process.h"
#include "v8/code_finder.h"
#include "v8/code_space.h"
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
};

struct NativeSymbol {
  std::string name;  // empty: not known
  std::string module;
};

// Everything that is needed to read the stacks of a live Node.js process, prepared while it runs.
class ProcessView final : private CodeMap {
 public:
  static Result<std::unique_ptr<ProcessView>> open(pid_t pid, Diagnostics& diagnostics);

  const LiveProcess& process() const { return process_; }
  const Layout& layout() const { return layout_; }

  // The process stands still and may have changed since the last time.
  Result<void> refresh();

  // Must be called while the process stands still.
  Stack read_stack(const RegisterSet& registers);

  // From now on frames come with what their functions were called with.
  void read_arguments() { reads_arguments_ = true; }

  // These may be called after it went on.
  NativeSymbol resolve(const NativeFrame& frame);
  Scripts& scripts() { return scripts_; }

 private:
  ProcessView(LiveProcess process, Layout layout, Range<FileOffset> builtins, NodeBinary binary);

  CodeRegion find(Address pc) override;
  std::span<const std::byte> code(Range<Address> range) override;
  std::optional<Address> function_begin(Address pc) override;

  CodeSpace derive_code_space();
  void add_arguments(const PhysicalFrame& physical, Frame& frame);
  std::string copy_stack(Address stack_pointer);
  std::optional<Symbol> symbol_at(Address pc);

  LiveProcess process_;
  Layout layout_;
  Range<FileOffset> builtins_;
  std::string node_device_;
  std::uint64_t node_inode_ = 0;
  LiveMemory memory_;
  Images images_;
  Heap heap_;
  CodeSpace space_;
  CodeFinder codes_;
  Scripts scripts_;
  FrameReader reader_;
  Unwinder unwinder_;
  std::string code_bytes_;
  bool reads_arguments_ = false;
};

}  // namespace nodescope::v8
