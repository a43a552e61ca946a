#include "model/sample.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace nodescope {

namespace {
constexpr std::size_t kMaxEvents = 256;
constexpr std::int32_t kMaxCpu = 1 << 20;
}  // namespace

void SampleTable::add(std::int64_t time_ns, StackId stack, ContextId context, std::uint64_t weight) {
  if (size() != 0 && time_ns < times_[size() - 1]) sorted_ = false;
  times_.push_back(time_ns);
  stacks_.push_back(stack);
  contexts_.push_back(context);
  weights_.push_back(weight);
}

ContextId SampleTable::intern(const SampleContext& context) {
  NODESCOPE_CHECK(context.event.value < kMaxEvents);
  const std::int32_t cpu = std::clamp(context.cpu, kUnknownCpu, kMaxCpu);
  const std::uint64_t key = std::uint64_t{context.thread.value} << 32 |
                            static_cast<std::uint64_t>(cpu + 1) << 8 | context.event.value;
  const auto [entry, added] = context_ids_.try_emplace(key, ContextId{context_table_.size()});
  if (added) context_table_.push_back({context.thread, cpu, context.event});
  return entry->second;
}

void SampleTable::reserve(std::size_t count) {
  times_.reserve(count);
  stacks_.reserve(count);
  contexts_.reserve(count);
  weights_.reserve(count);
}

std::size_t SampleTable::memory_bytes() const {
  return times_.memory_bytes() + stacks_.capacity() * sizeof(StackId) + contexts_.memory_bytes() +
         weights_.memory_bytes();
}

void SampleTable::sort_by_time() {
  if (sorted_) return;
  std::vector<std::uint32_t> order(size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t i) { return times_[i]; });
  SampleTable ordered;
  ordered.context_table_ = std::move(context_table_);
  ordered.context_ids_ = std::move(context_ids_);
  ordered.stacks_.reserve(order.size());
  for (const std::uint32_t i : order) ordered.add(times_[i], stacks_[i], contexts_[i], weights_[i]);
  *this = std::move(ordered);
}

}  // namespace nodescope
