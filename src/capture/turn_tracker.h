#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "target/loop_accounts.h"

namespace nodescope {

// What a loop's thread has done by the scheduler's account.
struct ThreadTimes {
  std::uint64_t running_ns = 0;
  std::uint64_t runnable_ns = 0;  // ready, without a CPU

  bool operator==(const ThreadTimes&) const = default;
};

// A loop's account at a moment of CLOCK_MONOTONIC.
struct LoopReading {
  std::uint64_t time_ns = 0;
  LoopAccount account;
  ThreadTimes thread;
};

// What a loop did from epoll's return to its next call.
struct Turn {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint64_t slack_ns = 0;  // how much shorter or longer it may have been
  ThreadTimes thread;          // to the distance of two readings; all zero: not known
  bool lasts = false;          // it had not ended when that was last looked at

  std::uint64_t duration_ns() const { return end_ns - begin_ns; }
  bool operator==(const Turn&) const = default;
};

// Of a turn, what the thread spent neither running nor ready to run: it waited for a disk, a lock or a child.
// 0 where that is no more than the scheduler's account may be late.
std::uint64_t waiting_ns(const Turn& turn);
// Most of it the thread was ready to run and had no CPU.
bool is_of_the_machine(const Turn& turn);
// "280 ms waiting, 12 ms ready without a CPU"; empty where the thread was running nearly all the time.
std::string waiting_text(const Turn& turn);

// Durations by a logarithmic scale with steps of 9 %.
class DurationCounts {
 public:
  void add(std::uint64_t duration_ns, std::uint64_t count);
  std::uint64_t total() const { return total_; }
  // The length below which `share` of all are; 0 when there is none.
  std::uint64_t quantile_ns(double share) const;

 private:
  static constexpr std::size_t kBuckets = 320;
  static std::size_t bucket_of(std::uint64_t duration_ns);
  static std::uint64_t middle_of(std::size_t bucket);

  std::array<std::uint64_t, kBuckets> counts_{};
  std::uint64_t total_ = 0;
};

// What a loop did between two moments.
struct LoopTicks {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  std::uint64_t busy_ns = 0;
  std::uint64_t max_ns = 0;  // of the turns
  // Only where libuv counts turns.
  bool has_turns = false;
  std::uint64_t turns = 0;
  std::uint64_t p50_ns = 0;
  std::uint64_t p99_ns = 0;

  double utilisation() const {
    return end_ns > begin_ns ? static_cast<double>(busy_ns) / static_cast<double>(end_ns - begin_ns) : 0;
  }
};

// Makes turns of the readings of one loop.
//
// A turn that is long beside the distance of two readings is known by itself: its beginning and end exactly
// where the loop slept before and after it, else to that distance.  Turns that ended between the same two
// readings count with their mean.  Only what is proven is a turn: readings that came late make slack, never a
// longer turn.  Where libuv does not count turns, the loop's time tells one from the next; a callback that
// takes it anew, as setTimeout does, then cuts a turn in two.
class TurnTracker {
 public:
  // Turns of at least `least_ns` are kept one by one.
  TurnTracker(bool counts_turns, std::uint64_t least_ns) : counts_turns_(counts_turns), least_ns_(least_ns) {}

  // False when the reading does not follow from the ones before: it is not of the same loop.
  bool add(const LoopReading& reading);

  // No reading follows: the turn that lasts is taken for what is known of it.
  void finish(bool lasts);

  // Those that ended since the last call, by time.
  std::vector<Turn> take_turns();
  // What happened since the last call.
  LoopTicks take_ticks();
  // How long the turn that lasts has been busy; 0 while the loop sleeps.
  std::uint64_t busy_for_ns() const;

 private:
  // The turn that the last reading was in, as far as it was busy.
  struct Open {
    std::uint64_t begin_low_ns = 0;   // it cannot have begun earlier
    std::uint64_t begin_high_ns = 0;  // or later
    std::uint64_t seen_ns = 0;        // it lasted at least until then
    ThreadTimes before;               // at the last reading before it began
  };

  void close(std::uint64_t end_high_ns, bool is_exact, const LoopReading& reading);
  void count(std::uint64_t ended, bool one_lasts, std::uint64_t busy_ns);

  bool counts_turns_;
  std::uint64_t least_ns_;
  std::optional<LoopReading> last_;
  std::optional<Open> open_;
  std::vector<Turn> turns_;
  DurationCounts durations_;
  std::uint64_t pending_busy_ns_ = 0;  // of the turn that lasts
  std::uint64_t max_ns_ = 0;
  LoopTicks ticks_;
};

}  // namespace nodescope
