#include "capture/loop_watch.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "os/procfs.h"

namespace nodescope {

namespace {

using Clock = std::chrono::steady_clock;

// While a process starts, its main loop is about to come; workers may come later.
constexpr auto kSoon = std::chrono::milliseconds(50);
constexpr auto kLater = std::chrono::milliseconds(500);
// A thread has its loop soon after it starts: so often is looked for it.
constexpr int kRounds = 4;
// A program whose main loop is not there after some seconds has none that is understood.
constexpr int kSoonTries = 200;
// Walking the queue of a pool takes longer than a reading.
constexpr auto kBetweenWalks = std::chrono::milliseconds(50);
constexpr std::uint64_t kMaxReadingNs = 1'000'000;

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count());
}

}  // namespace

struct LoopWatch::Watched {
  Watched(const EventLoop& from, std::uint64_t least_turn_ns)
      : loop(from),
        scheduler(from.pid, from.tid),
        tracker(from.layout.counts_turns(), least_turn_ns),
        thread{from.pid, from.tid} {}

  EventLoop loop;
  SchedulerAccount scheduler;
  TurnTracker tracker;
  LoopThread thread;
};

struct LoopWatch::WatchedPool {
  WatchedPool(pid_t pid, WorkPool from, std::uint64_t least_ns)
      : pool(std::move(from)), tracker(pid, least_ns) {}

  std::optional<PoolState> read() {
    auto state = pool.read();
    if (!state || !state->is_full() || Clock::now() < next_walk) return state;
    next_walk = Clock::now() + kBetweenWalks;
    pool.walk(*state);
    return state;
  }

  WorkPool pool;
  PoolTracker tracker;
  Clock::time_point next_walk{};
};

struct LoopWatch::Target {
  explicit Target(pid_t from) : pid(from), finder(from) {}

  pid_t pid;
  LoopFinder finder;
  Clock::time_point next{};
  bool has_main = false;
  bool has_ended = false;
  bool looked_for_pool = false;
  int tries = 0;  // to find the main loop soon
  std::vector<pid_t> threads;
  int rounds = kRounds;  // left to look for loops in
};

LoopWatch::LoopWatch(const LoopWatchOptions& options)
    : options_(options), thread_([this](const std::stop_token& stop) { run(stop); }) {}

LoopWatch::~LoopWatch() = default;

void LoopWatch::watch(pid_t pid) {
  const std::scoped_lock lock(mutex_);
  asked_.push_back(pid);
}

void LoopWatch::run(const std::stop_token& stop) {
  make_thread_prompt();
  auto next = Clock::now();
  while (!stop.stop_requested()) {
    read_all();
    read_pools();
    look_for_loops();
    next = std::max(next + options_.distance, Clock::now());
    std::this_thread::sleep_until(next);
  }
}

// False when it is no loop any more.
bool LoopWatch::read(Watched& watched) {
  const std::uint64_t before = now_ns();
  const auto account = read_account(watched.loop);
  if (!account) return false;
  const std::uint64_t after = now_ns();
  // Whoever is interrupted in between does not know when it was so.
  if (after - before > kMaxReadingNs) return true;
  const auto times = watched.scheduler.read().value_or(SchedulerAccount::Times{});
  // It may have gone to sleep while it was read.
  const std::uint64_t time = std::max(before, std::min(account->asleep_since_ns, after));
  const bool follows = watched.tracker.add({time, *account, {times.running_ns, times.runnable_ns}});
  take_turns_of(watched);
  return follows;
}

void LoopWatch::take_turns_of(Watched& watched) {
  for (const Turn& turn : watched.tracker.take_turns()) turns_.push_back({watched.thread, turn});
}

void LoopWatch::finish() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  const std::scoped_lock lock(mutex_);
  for (const auto& watched : loops_) {
    watched->tracker.finish(/*lasts=*/true);
    take_turns_of(*watched);
  }
  for (const auto& watched : pools_) {
    watched->tracker.end();
    std::ranges::move(watched->tracker.take(), std::back_inserter(full_pools_));
  }
}

void LoopWatch::read_all() {
  const std::scoped_lock lock(mutex_);
  std::erase_if(loops_, [this](const std::unique_ptr<Watched>& watched) {
    if (read(*watched)) return false;
    // Its thread has ended, perhaps in the middle of a turn.
    watched->tracker.finish(/*lasts=*/false);
    take_turns_of(*watched);
    lost_.push_back(watched->thread);
    return true;
  });
}

// A pool that cannot be read any more belongs to a process that has ended.
void LoopWatch::read_pools() {
  const std::scoped_lock lock(mutex_);
  std::erase_if(pools_, [this](const std::unique_ptr<WatchedPool>& watched) {
    const auto state = watched->read();
    state ? watched->tracker.add(now_ns(), *state) : watched->tracker.end();
    std::ranges::move(watched->tracker.take(), std::back_inserter(full_pools_));
    return !state;
  });
}

void LoopWatch::look_for_pool(Target& target) {
  if (std::exchange(target.looked_for_pool, true)) return;
  const auto process = LiveProcess::open(target.pid);
  auto pool = process ? WorkPool::find(**process) : std::nullopt;
  if (!pool) return;
  const std::scoped_lock lock(mutex_);
  pools_.push_back(std::make_unique<WatchedPool>(target.pid, std::move(*pool), options_.least_turn_ns));
}

void LoopWatch::forget_lost() {
  std::vector<LoopThread> lost;
  {
    const std::scoped_lock lock(mutex_);
    lost = std::exchange(lost_, {});
  }
  for (const LoopThread& thread : lost) {
    const auto target = std::ranges::find(targets_, thread.pid, [](const auto& known) { return known->pid; });
    if (target == targets_.end()) continue;
    (*target)->finder.forget(thread.tid);
    (*target)->rounds = kRounds;
    if (thread.is_main()) (*target)->has_main = false;
  }
}

void LoopWatch::look_for_loops() {
  std::vector<pid_t> asked;
  {
    const std::scoped_lock lock(mutex_);
    asked = std::exchange(asked_, {});
  }
  for (const pid_t pid : asked) {
    // A process that is asked for again has another program.
    std::erase_if(targets_, [pid](const auto& known) { return known->pid == pid; });
    targets_.push_back(std::make_unique<Target>(pid));
  }
  forget_lost();
  for (const auto& target : targets_) {
    if (Clock::now() >= target->next) look_for_loops(*target);
  }
  std::erase_if(targets_, [](const auto& target) { return target->has_ended; });
}

void LoopWatch::look_for_loops(Target& target) {
  auto threads = list_threads(target.pid);
  if (!threads) {
    target.has_ended = true;
    return;
  }
  if (*threads != target.threads) target.rounds = kRounds;
  target.threads = std::move(*threads);
  if (target.rounds == 0) {
    target.next = Clock::now() + kLater;
    return;
  }
  if (target.has_main) look_for_pool(target);
  if (target.has_main || ++target.tries > kSoonTries) --target.rounds;
  auto found = target.finder.find_new();
  target.next = Clock::now() + (target.has_main || target.tries > kSoonTries ? kLater : kSoon);
  const std::scoped_lock lock(mutex_);
  if (!found) {
    target.next = Clock::now() + kLater;
    // That it has ended is told by others.
    if (found.error().code != ErrorCode::kNotFound && diagnostics_.count(kNoLoops) == 0)
      diagnostics_.info(kNoLoops, found.error().message);
    return;
  }
  for (const EventLoop& loop : *found) {
    target.has_main = target.has_main || loop.is_main();
    loops_.push_back(std::make_unique<Watched>(loop, options_.least_turn_ns));
    found_.push_back(loops_.back()->thread);
    ++seen_;
  }
}

std::vector<LoopTurn> LoopWatch::take_turns() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(turns_, {});
}

std::vector<LoopStatus> LoopWatch::take_status() {
  const std::scoped_lock lock(mutex_);
  std::vector<LoopStatus> all;
  for (const auto& watched : loops_)
    all.push_back({watched->thread, watched->tracker.take_ticks(), watched->tracker.busy_for_ns()});
  return all;
}

std::vector<FullPool> LoopWatch::take_full_pools() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(full_pools_, {});
}

std::vector<LoopThread> LoopWatch::take_found() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(found_, {});
}

std::size_t LoopWatch::loops_seen() const {
  const std::scoped_lock lock(mutex_);
  return seen_;
}

Diagnostics LoopWatch::take_diagnostics() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(diagnostics_, {});
}

}  // namespace nodescope
