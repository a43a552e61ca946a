#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "target/loop_accounts.h"
#include "target/process.h"

namespace nodescope {

// What an event loop waits for: uv_handle_t.
struct LoopHandle {
  Address address;
  std::string_view type;  // "tcp", "timer"
  Address data;           // what the program keeps with it; of Node.js its HandleWrap
  bool is_active = false;
  bool is_referenced = false;  // keeps the process alive
  bool is_closing = false;
  std::optional<std::int32_t> descriptor = {};
  std::optional<std::int32_t> pid = {};      // of a child process
  std::optional<std::int32_t> signal = {};   // that it waits for
  std::optional<std::uint64_t> due_ms = {};  // of a timer: from the loop's own time on
};

struct HandleLoop {
  pid_t tid = 0;
  Address address;
  std::uint32_t active_requests = 0;
  std::vector<LoopHandle> handles;
};

// The loop at `address`; nothing where none is: each of its handles points back to it.
std::optional<HandleLoop> read_handle_loop(Memory& memory, const LoopLayout& layout, Address address);

// The event loops of a process that stands still, alive or dead: that of the main thread and those that lie
// on the stacks of workers.  kUnsupported where it has no libuv that is understood.
Result<std::vector<HandleLoop>> find_handle_loops(TargetProcess& process,
                                                  std::span<const TargetThread> threads);

}  // namespace nodescope
