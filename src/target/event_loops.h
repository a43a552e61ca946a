#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "base/result.h"
#include "target/live_process.h"
#include "target/loop_accounts.h"
#include "target/memory_map.h"

namespace nodescope {

// An event loop of a running process.
struct EventLoop {
  pid_t pid = 0;
  pid_t tid = 0;
  Address loop;
  Address fields;
  LoopLayout layout;

  bool is_main() const { return pid == tid; }
};

// Reads the account as it is now, without a stop.  Nothing when it cannot be read, or is none any more.
std::optional<LoopAccount> read_account(const EventLoop& loop);

// The thread whose control block begins somewhere in `stack_end`, the last bytes of a stack that ends at
// `end`: glibc puts it there, with its own address in the first and third words.  0: none.
pid_t owner_of_stack(std::span<const std::byte> stack_end, Address end, std::span<const pid_t> threads);

// Finds the loops of a process: that of the main thread by the symbols of libuv, those of workers on their
// threads' stacks, where Node.js has them (node::worker::WorkerThreadData).  A candidate counts only if it
// waits on an epoll descriptor of this process and keeps an account that makes sense.
class LoopFinder {
 public:
  explicit LoopFinder(pid_t pid) : pid_(pid) {}

  // All that were not there the last time.  Workers may come at any time; the main thread has a loop soon
  // after the start.  kUnsupported where the process has no libuv that is understood.
  Result<std::vector<EventLoop>> find_new();
  // Forgets the loop of a thread, which may get another.
  void forget(pid_t tid) { std::erase(known_, tid); }

 private:
  Result<void> open(const LiveProcess& process);
  bool waits_on_epoll(std::int32_t descriptor) const;
  std::optional<EventLoop> check(Address loop, pid_t tid, const LoopHead& head) const;
  std::optional<EventLoop> main_loop() const;
  std::optional<EventLoop> loop_on_stack(const Region& region, std::span<const pid_t> threads) const;
  bool knows(pid_t tid) const;

  pid_t pid_;
  LoopLayout layout_;
  Address default_loop_pointer_;  // 0: not looked for yet
  std::vector<pid_t> known_;
};

}  // namespace nodescope
