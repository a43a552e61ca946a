#include "capture/pool_tracker.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "model/turns.h"

namespace nodescope {

std::string describe(const FullPool& pool) {
  return fmt::format("{}: {} threads, up to {}{} {}, most for {}", kFullPoolMark, pool.threads,
                     with_thousands(pool.most_queued), pool.had_more ? " or more" : "",
                     pool.most_queued == 1 ? "request waits" : "requests wait", pool.work);
}

void PoolTracker::add(std::uint64_t time_ns, const PoolState& state) {
  if (!state.is_full()) return end();
  if (!open_) open_ = FullPool{.pid = pid_, .begin_ns = time_ns};
  open_->end_ns = time_ns;
  open_->threads = state.threads;
  open_->most_queued = std::max(open_->most_queued, state.queued);
  open_->had_more = open_->had_more || state.has_more;
  for (const auto& [kind, count] : state.work) work_[kind] += count;
}

void PoolTracker::end() {
  auto open = std::exchange(open_, std::nullopt);
  const auto work = std::exchange(work_, {});
  // Without a request in it the queue held only a sign of libuv's own.
  if (!open || open->duration_ns() < least_ns_ || open->most_queued == 0) return;
  const auto most = std::ranges::max_element(work, {}, [](const auto& each) { return each.second; });
  if (most != work.end()) open->work = most->first;
  done_.push_back(std::move(*open));
}

std::vector<FullPool> PoolTracker::take() {
  return std::exchange(done_, {});
}

}  // namespace nodescope
