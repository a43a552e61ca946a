#include "capture/turn_tracker.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"

namespace nodescope {

namespace {

// Eight steps for each doubling.
constexpr double kSteps = 8;

std::uint64_t idle_until(const LoopReading& reading) {
  const std::uint64_t since = reading.account.asleep_since_ns;
  return reading.account.idle_ns + (since != 0 && reading.time_ns > since ? reading.time_ns - since : 0);
}

ThreadTimes since(const ThreadTimes& now, const ThreadTimes& before) {
  return {now.running_ns - std::min(now.running_ns, before.running_ns),
          now.runnable_ns - std::min(now.runnable_ns, before.runnable_ns)};
}

}  // namespace

std::uint64_t waiting_ns(const Turn& turn) {
  // The kernel notes what a thread ran when a tick comes, up to 10 ms later.
  constexpr std::uint64_t kLateNs = 10'000'000;
  if (turn.thread.running_ns == 0 && turn.thread.runnable_ns == 0) return 0;
  const std::uint64_t ready = turn.thread.running_ns + turn.thread.runnable_ns;
  const std::uint64_t waited = turn.duration_ns() - std::min(turn.duration_ns(), ready);
  return waited > kLateNs ? waited : 0;
}

bool is_of_the_machine(const Turn& turn) {
  return turn.thread.runnable_ns > turn.duration_ns() / 2;
}

std::string waiting_text(const Turn& turn) {
  // Less than that does not explain a turn.
  constexpr std::uint64_t kPart = 20;
  std::string text;
  const auto add = [&](std::uint64_t ns, std::string_view what) {
    if (ns * kPart < turn.duration_ns() || ns < 1'000'000) return;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", human_duration_ns(ns), what);
  };
  add(waiting_ns(turn), "waiting");
  add(std::min(turn.thread.runnable_ns, turn.duration_ns()), "ready without a CPU");
  return text;
}

std::size_t DurationCounts::bucket_of(std::uint64_t duration_ns) {
  const double steps = std::log2(static_cast<double>(std::max<std::uint64_t>(duration_ns, 1))) * kSteps;
  return std::min(kBuckets - 1, static_cast<std::size_t>(steps));
}

std::uint64_t DurationCounts::middle_of(std::size_t bucket) {
  return static_cast<std::uint64_t>(std::exp2((static_cast<double>(bucket) + 0.5) / kSteps));
}

void DurationCounts::add(std::uint64_t duration_ns, std::uint64_t count) {
  counts_[bucket_of(duration_ns)] += count;
  total_ += count;
}

std::uint64_t DurationCounts::quantile_ns(double share) const {
  const double wanted = share * static_cast<double>(total_);
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    below += counts_[i];
    if (counts_[i] != 0 && static_cast<double>(below) >= wanted) return middle_of(i);
  }
  return 0;
}

bool TurnTracker::add(const LoopReading& reading) {
  const LoopAccount& account = reading.account;
  if (account.asleep_since_ns > reading.time_ns) return false;
  if (!last_) {
    last_ = reading;
    ticks_.begin_ns = ticks_.end_ns = reading.time_ns;
    return true;
  }
  const LoopReading before = std::exchange(*last_, reading);
  const bool follows = reading.time_ns >= before.time_ns && account.turn >= before.account.turn &&
                       account.idle_ns >= before.account.idle_ns &&
                       account.asleep_since_ns <= reading.time_ns;
  if (!follows) return false;
  const std::uint64_t passed = reading.time_ns - before.time_ns;
  const std::uint64_t idle =
      std::min(passed, idle_until(reading) - std::min(idle_until(reading), idle_until(before)));
  const bool same_turn = account.turn == before.account.turn;
  const std::uint64_t ended = counts_turns_ ? account.turn - before.account.turn : (same_turn ? 0 : 1);
  const bool asleep = account.asleep_since_ns != 0;
  const bool was_asleep = before.account.asleep_since_ns != 0;

  if (open_ && (!same_turn || asleep || account.idle_ns != before.account.idle_ns)) {
    // It ended before all the sleep that came since, and if it slept only once, when it went to sleep.
    const bool slept_once = asleep && account.idle_ns == before.account.idle_ns && ended <= 1;
    close(reading.time_ns - idle, slept_once, reading);
  }
  if (!asleep && !open_) {
    // The sleep that the reading before saw ended exactly then, if it is the only one.
    const std::uint64_t woke = before.account.asleep_since_ns + (account.idle_ns - before.account.idle_ns);
    const bool is_exact = was_asleep && same_turn && woke <= reading.time_ns && woke >= before.time_ns;
    const std::uint64_t earliest = is_exact ? woke : before.time_ns + idle;
    open_ = Open{earliest, is_exact ? woke : reading.time_ns, reading.time_ns, before.thread};
  } else if (open_) {
    open_->seen_ns = reading.time_ns;
  }
  ticks_.busy_ns += passed - idle;
  ticks_.turns += ended;
  ticks_.end_ns = reading.time_ns;
  count(ended, !asleep, passed - idle);
  return true;
}

// Turns that ended since the reading before share the time that was busy, after what the first had already.
void TurnTracker::count(std::uint64_t ended, bool one_lasts, std::uint64_t busy_ns) {
  if (ended == 0) {
    pending_busy_ns_ += busy_ns;
    return;
  }
  const std::uint64_t share = busy_ns / (ended + (one_lasts ? 1 : 0));
  durations_.add(pending_busy_ns_ + share, 1);
  max_ns_ = std::max(max_ns_, pending_busy_ns_ + share);
  if (ended > 1) durations_.add(share, ended - 1);
  pending_busy_ns_ = one_lasts ? share : 0;
}

void TurnTracker::close(std::uint64_t end_high_ns, bool is_exact, const LoopReading& reading) {
  const Open open = *std::exchange(open_, std::nullopt);
  const std::uint64_t end_high = std::max(end_high_ns, open.seen_ns);
  const std::uint64_t end_low = is_exact ? end_high : open.seen_ns;
  const std::uint64_t shortest = end_low - std::min(end_low, open.begin_high_ns);
  const std::uint64_t longest = end_high - std::min(end_high, open.begin_low_ns);
  // In the middle, where that is as good as known; else what is proven.
  constexpr std::uint64_t kGoodNs = 5'000'000;
  constexpr std::uint64_t kGoodPart = 33;
  const std::uint64_t range = longest - shortest;
  Turn turn;
  turn.thread = since(reading.thread, open.before);
  if (range / 2 <= std::max(kGoodNs / 2, shortest / kGoodPart)) {
    turn.begin_ns = open.begin_low_ns + (open.begin_high_ns - open.begin_low_ns) / 2;
    turn.end_ns = end_low + (end_high - end_low) / 2;
    turn.slack_ns = range / 2;
  } else {
    turn.begin_ns = open.begin_high_ns;
    turn.end_ns = end_low;
    turn.slack_ns = range;
  }
  if (turn.end_ns >= turn.begin_ns + least_ns_) turns_.push_back(turn);
}

void TurnTracker::finish(bool lasts) {
  if (!open_ || !last_) return;
  const std::size_t before = turns_.size();
  close(open_->seen_ns, true, *last_);
  if (turns_.size() > before) turns_.back().lasts = lasts;
}

std::vector<Turn> TurnTracker::take_turns() {
  return std::exchange(turns_, {});
}

LoopTicks TurnTracker::take_ticks() {
  LoopTicks ticks = ticks_;
  ticks.has_turns = counts_turns_;
  ticks.p50_ns = durations_.quantile_ns(0.5);
  ticks.p99_ns = durations_.quantile_ns(0.99);
  ticks.max_ns = std::max(max_ns_, busy_for_ns());
  // The middle of a step may lie beyond what was seen.
  ticks.p50_ns = std::min(ticks.p50_ns, ticks.max_ns);
  ticks.p99_ns = std::min(ticks.p99_ns, ticks.max_ns);
  ticks_ = {};
  ticks_.begin_ns = ticks_.end_ns = ticks.end_ns;
  durations_ = {};
  max_ns_ = 0;
  return ticks;
}

std::uint64_t TurnTracker::busy_for_ns() const {
  return open_ ? open_->seen_ns - std::min(open_->seen_ns, open_->begin_low_ns) : 0;
}

}  // namespace nodescope
