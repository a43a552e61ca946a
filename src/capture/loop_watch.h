#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string_view>
#include <thread>
#include <vector>

#include "base/diagnostics.h"
#include "capture/pool_tracker.h"
#include "capture/turn_tracker.h"
#include "os/thread_times.h"
#include "target/event_loops.h"

namespace nodescope {

inline constexpr std::string_view kNoLoops = "turns of the event loop could not be measured";

struct LoopWatchOptions {
  std::chrono::microseconds distance{2000};  // between two readings
  std::uint64_t least_turn_ns = 10'000'000;  // shorter turns are counted, not kept
};

// For recordings, in which nothing shorter than a stall is looked at one by one.
inline constexpr LoopWatchOptions kRecordingLoops{.distance = std::chrono::milliseconds(5)};

// Whose turn or ticks it is.
struct LoopThread {
  pid_t pid = 0;
  pid_t tid = 0;

  bool is_main() const { return pid == tid; }
  bool operator==(const LoopThread&) const = default;
};

struct LoopTurn {
  LoopThread thread;
  Turn turn;
};

struct LoopStatus {
  LoopThread thread;
  LoopTicks ticks;
  std::uint64_t busy_for_ns = 0;  // of the turn that lasts
};

// Watches the event loops of processes by libuv's own accounts, on a thread of its own: whatever else goes on
// here, the readings come in time.  Nothing is done to the processes.
class LoopWatch {
 public:
  explicit LoopWatch(const LoopWatchOptions& options);
  ~LoopWatch();

  // Loops of `pid` count from the moment on at which they are found.
  void watch(pid_t pid);

  // Reads no more: what lasts is taken for what is known of it.
  void finish();

  // Long turns that ended since the last call, by time.
  std::vector<LoopTurn> take_turns();
  // What each loop did since the last call.
  std::vector<LoopStatus> take_status();
  // Times in which a pool of threads was full and that ended since the last call.
  std::vector<FullPool> take_full_pools();
  // Threads whose loops were found since the last call.
  std::vector<LoopThread> take_found();
  // How many loops are there, and have been.
  std::size_t loops_seen() const;
  // Why loops could not be found; each once.
  Diagnostics take_diagnostics();

 private:
  struct Watched;
  struct WatchedPool;
  struct Target;

  void run(const std::stop_token& stop);
  void read_all();
  bool read(Watched& watched);
  void take_turns_of(Watched& watched);
  void look_for_loops();
  void forget_lost();
  void look_for_loops(Target& target);
  void look_for_pool(Target& target);
  void read_pools();

  LoopWatchOptions options_;
  mutable std::mutex mutex_;  // guards what follows
  std::vector<pid_t> asked_;
  std::vector<std::unique_ptr<Watched>> loops_;
  std::vector<std::unique_ptr<WatchedPool>> pools_;
  std::vector<LoopTurn> turns_;
  std::vector<FullPool> full_pools_;
  std::vector<LoopThread> lost_;  // cannot be read any more
  std::vector<LoopThread> found_;
  std::size_t seen_ = 0;
  Diagnostics diagnostics_;

  std::vector<std::unique_ptr<Target>> targets_;  // only the thread's
  std::jthread thread_;                           // last: it ends first
};

}  // namespace nodescope
