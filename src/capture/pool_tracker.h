#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "target/work_pool.h"

namespace nodescope {

// A time in which all threads of libuv's pool were busy and more work waited for them.
struct FullPool {
  pid_t pid = 0;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint32_t threads = 0;
  std::size_t most_queued = 0;
  bool had_more = false;  // than could be counted
  std::string work = {};  // what most of the queue was: "crypto.pbkdf2"

  std::uint64_t duration_ns() const { return end_ns - begin_ns; }
  bool operator==(const FullPool&) const = default;
};

// "libuv's pool is full: 4 threads, up to 20 requests wait, most for crypto.pbkdf2".
std::string describe(const FullPool& pool);

// Makes such times of readings of one pool.  It may have had room for a moment between two of them.
class PoolTracker {
 public:
  // Shorter times are left out.
  PoolTracker(pid_t pid, std::uint64_t least_ns) : pid_(pid), least_ns_(least_ns) {}

  void add(std::uint64_t time_ns, const PoolState& state);
  // No more readings come.
  void end();
  // Those that ended since the last call.
  std::vector<FullPool> take();

 private:
  pid_t pid_;
  std::uint64_t least_ns_;
  std::optional<FullPool> open_;
  std::map<std::string, std::size_t> work_;  // of the open one: how often it was seen in the queue
  std::vector<FullPool> done_;
};

}  // namespace nodescope
