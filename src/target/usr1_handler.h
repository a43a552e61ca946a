#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "target/memory.h"

namespace nodescope {

// What SIGUSR1 would do to a process.
enum class Usr1Handler : std::uint8_t {
  kNode,  // Node.js opens its inspector
  kNone,  // nobody handles it: the process would end (--disable-sigusr1, or it is only starting)
  kIgnored,
  kBlocked,  // it would arrive whenever the main thread lets it through
  kProgram,  // the program has a handler of its own
  kUnknown,  // somebody handles it, and whether that is Node.js cannot be verified
};

// Which signals a process catches, ignores and blocks, from /proc/PID/status.  kNode stands for "somebody
// catches it".
Usr1Handler parse_usr1_disposition(std::string_view status);

// Whether libuv has a handler for `signal_number`, in the tree of signal handles that begins at `root`.  An
// error where the memory there is no such tree.
Result<bool> has_uv_handler(Memory& memory, Address root, std::int32_t signal_number);

// kNode only where libuv's own list of signal handles shows that the program has none for SIGUSR1.
Result<Usr1Handler> find_usr1_handler(pid_t pid);

}  // namespace nodescope
