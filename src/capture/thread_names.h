#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "binary/address.h"
#include "v8/process_view.h"

namespace nodescope {

// So many of a stack's outermost functions tell what its thread is for.
constexpr std::size_t kRoleDepth = 8;

// What a thread is for, by a function near the beginning of its stack: "worker", "libuv pool"; empty: that
// function does not tell.
std::string_view role_of_function(std::string_view function);

// What a thread is called whose role (or nothing) and own name are these.  A worker's own name counts if the
// program gave it: Node.js from 24 on passes the name of a Worker on to its thread; the others have what
// Node.js calls all of them, or the name of the thread that started them (`inherited`).
std::string choose_thread_name(std::string_view role, std::string_view own_name,
                               const std::vector<std::string_view>& inherited);

// What is known about the stack of a thread that is to be named.
struct ThreadBegin {
  std::vector<std::string_view> functions;  // outermost first; more than kRoleDepth are not looked at
  bool complete = true;                     // the first is where the thread began
  Address stack_pointer;                    // where it began is looked for if it is not
};

// The name of a thread in everything that is shown: "main", its role, or the name that it has.  `view` may be
// null.
std::string name_thread(pid_t pid, pid_t tid, const ThreadBegin& begin, v8::ProcessView* view);

}  // namespace nodescope
