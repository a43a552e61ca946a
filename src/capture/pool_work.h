#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/flat_map.h"
#include "base/result.h"
#include "binary/unwinder.h"
#include "model/stack.h"
#include "os/function_probes.h"

namespace nodescope {

// What a thread of libuv's pool calls to do a request; on its stack it stands directly above "worker".
bool is_pool_work(std::string_view function);

// Tells for whom a thread of libuv's pool works: the stack of whoever asked for it.  By probes where libuv
// takes a request and where a thread begins with it, for those who may set them.
class PoolWork {
 public:
  // Of a process, with the threads that it has now.  kUnsupported where the binary has no symbols of the
  // pool.
  Result<void> watch(pid_t pid);
  bool watches() const { return !targets_.empty(); }

  using BuildStack = std::function<StackId(pid_t pid, const RegisterSet& registers, StackSnapshot snapshot)>;
  // Reads what happened since the last call, also on threads that have come.
  void collect(const BuildStack& build);

  // The stack that asked for what a thread, whose stack this is, did at a time up to the last collect();
  // empty: not known.
  StackId asked_by(pid_t pid, pid_t tid, std::uint64_t time_ns, StackSnapshot stack);

 private:
  // Requests that nobody has begun with; those of a process that ends stay for good.
  static constexpr std::size_t kMaxOpen = 1 << 16;

  struct Target {
    std::unique_ptr<FunctionProbes> probes;
    std::vector<pid_t> threads;
    std::size_t known_threads = 0;         // of them: those that were there at the beginning
    FlatMap<std::uint64_t, StackId> open;  // by the address of the request
  };
  struct Begun {
    std::uint64_t time_ns = 0;
    StackId stack;
  };

  void attach_new_threads(pid_t pid, Target& target);
  StackId found_on_stack(Target& target, StackSnapshot stack);
  void add(pid_t pid, Target& target, const ProbeHit& hit, const BuildStack& build);

  FlatMap<std::uint32_t, std::unique_ptr<Target>> targets_;  // by pid
  FlatMap<std::uint32_t, std::vector<Begun>> begun_;         // by tid; the last round and one before
};

}  // namespace nodescope
