#include "model/sample.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace nodescope {

namespace {
constexpr std::size_t kMaxEvents = 256;
constexpr std::int32_t kMaxCpu = 1 << 20;

// Puts the samples of [begin, begin + order.size()) in the order that `order` says.
template <typename T>
void reorder(std::span<T> column, std::size_t begin, const std::vector<std::uint32_t>& order) {
  if (column.empty()) return;
  std::vector<T> ordered;
  ordered.reserve(order.size());
  for (const std::uint32_t i : order) ordered.push_back(column[begin + i]);
  std::ranges::copy(ordered, column.begin() + static_cast<std::ptrdiff_t>(begin));
}

}  // namespace

void SampleTable::add(std::int64_t time_ns, StackId stack, ContextId context, std::uint64_t weight) {
  if (size() != 0 && time_ns < times_[size() - 1]) sorted_ = false;
  times_.push_back(time_ns);
  stacks_.push_back(stack);
  contexts_.push_back(context);
  weights_.push_back(weight);
}

void SampleTable::append(const SampleColumns& columns) {
  const std::size_t count = columns.stack.size();
  NODESCOPE_CHECK(columns.time_ns.size() == count && columns.context.size() == count &&
                  columns.weight.size() == count);
  if (count == 0) return;
  if (size() != 0 && columns.time_ns.front() < times_[size() - 1]) sorted_ = false;
  sorted_ = sorted_ && std::ranges::is_sorted(columns.time_ns);
  times_.append(columns.time_ns);
  stacks_.insert(stacks_.end(), columns.stack.begin(), columns.stack.end());
  contexts_.append(columns.context);
  weights_.append(columns.weight);
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

// Merges the sorted parts [begin, middle) and [middle, end).
void SampleTable::merge(std::size_t begin, std::size_t middle, std::size_t end,
                        std::vector<std::uint32_t>& order) {
  order.clear();
  std::size_t left = begin;
  std::size_t right = middle;
  while (left < middle || right < end) {
    const bool take_left = right == end || (left < middle && times_[left] <= times_[right]);
    order.push_back(static_cast<std::uint32_t>((take_left ? left++ : right++) - begin));
  }
  reorder(times_.values(), begin, order);
  reorder(std::span(stacks_), begin, order);
  reorder(contexts_.values(), begin, order);
  reorder(weights_.values(), begin, order);
}

// Merges run after run into what is sorted already; false if that is too much work.
bool SampleTable::merge_runs() {
  constexpr std::size_t kMaxSteps = 8;  // by sample
  std::size_t left = kMaxSteps * size();
  std::vector<std::uint32_t> order;
  const std::span<const std::int64_t> times = times_.values();
  for (std::size_t middle = 1; middle < size();) {
    if (times[middle - 1] <= times[middle]) {
      ++middle;
      continue;
    }
    std::size_t end = middle + 1;
    while (end < size() && times[end - 1] <= times[end]) ++end;
    const auto sorted = times.first(middle);
    const auto begin =
        static_cast<std::size_t>(std::ranges::upper_bound(sorted, times[middle]) - sorted.begin());
    // Behind what is sorted, the run is in its place.
    end = static_cast<std::size_t>(
        std::ranges::lower_bound(times.subspan(middle, end - middle), times[middle - 1]) - times.begin());
    if (end - begin > left) return false;
    left -= end - begin;
    merge(begin, middle, end, order);
    middle = end;
  }
  return true;
}

void SampleTable::sort_by_time() {
  if (sorted_) return;
  if (merge_runs()) {
    sorted_ = true;
    return;
  }
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
