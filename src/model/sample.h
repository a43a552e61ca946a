#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/flat_map.h"
#include "model/stack.h"

namespace nodescope {

struct ProcessTag;
using ProcessId = Id<ProcessTag>;
struct ThreadTag;
using ThreadId = Id<ThreadTag>;
struct EventTag;
using EventId = Id<EventTag>;
struct ContextTag;
using ContextId = Id<ContextTag>;

constexpr std::int32_t kUnknownCpu = -1;

// Where a sample was taken.  There are few distinct ones, so a sample holds only an id.
struct SampleContext {
  ThreadId thread;
  std::int32_t cpu = kUnknownCpu;
  EventId event;

  bool operator==(const SampleContext&) const = default;
};

struct Sample {
  std::int64_t time_ns = 0;
  StackId stack;
  SampleContext context;
  std::uint64_t weight = 1;  // in the event's unit

  bool operator==(const Sample&) const = default;
};

// A column that costs nothing as long as all its values are equal.
template <typename T>
class CompactColumn {
 public:
  void push_back(T value) {
    if (values_.empty()) {
      if (size_ == 0) constant_ = value;
      if (value == constant_) {
        ++size_;
        return;
      }
      values_.reserve(reserved_);
      values_.assign(size_, constant_);
    }
    values_.push_back(value);
    ++size_;
  }
  void append(std::span<const T> values) {
    if (values.empty()) return;
    if (values_.empty()) {
      if (size_ == 0) constant_ = values.front();
      const auto same = [this](T value) { return value == constant_; };
      if (std::ranges::all_of(values, same)) {
        size_ += values.size();
        return;
      }
      values_.reserve(std::max(reserved_, size_ + values.size()));
      values_.assign(size_, constant_);
    }
    values_.insert(values_.end(), values.begin(), values.end());
    size_ += values.size();
  }
  // Room for `count` values in all, taken only once they differ.
  void reserve(std::size_t count) { reserved_ = count; }
  T operator[](std::size_t i) const { return values_.empty() ? constant_ : values_[i]; }
  std::size_t size() const { return size_; }
  bool is_constant() const { return values_.empty(); }
  // All of them; nothing where they are equal.
  std::span<const T> values() const { return values_; }
  std::span<T> values() { return values_; }
  std::size_t memory_bytes() const { return values_.capacity() * sizeof(T); }

 private:
  std::vector<T> values_;
  T constant_{};
  std::size_t size_ = 0;
  std::size_t reserved_ = 0;
};

// Samples to be added together; all columns are equally long.
struct SampleColumns {
  std::span<const std::int64_t> time_ns;
  std::span<const StackId> stack;
  std::span<const ContextId> context;
  std::span<const std::uint64_t> weight;
};

// Samples as columns: 16 bytes each where all weights are equal, as with a fixed sampling period.
class SampleTable {
 public:
  void add(const Sample& sample) { add(sample.time_ns, sample.stack, intern(sample.context), sample.weight); }
  void add(std::int64_t time_ns, StackId stack, ContextId context, std::uint64_t weight);
  void append(const SampleColumns& columns);
  ContextId intern(const SampleContext& context);
  // Room for `count` samples in all, for a reader that knows how many there are.
  void reserve(std::size_t count);

  std::size_t size() const { return stacks_.size(); }
  Sample operator[](std::size_t i) const { return {times_[i], stacks_[i], context(i), weights_[i]}; }
  std::int64_t time_ns(std::size_t i) const { return times_[i]; }
  StackId stack(std::size_t i) const { return stacks_[i]; }
  ContextId context_id(std::size_t i) const { return contexts_[i]; }
  const SampleContext& context(std::size_t i) const { return context_table_[contexts_[i].index()]; }
  std::uint64_t weight(std::size_t i) const { return weights_[i]; }
  const std::vector<SampleContext>& contexts() const { return context_table_; }
  // Whole columns, for loops over very many samples.
  const std::vector<StackId>& stacks() const { return stacks_; }
  const CompactColumn<ContextId>& context_ids() const { return contexts_; }
  const CompactColumn<std::uint64_t>& weights() const { return weights_; }
  bool is_sorted_by_time() const { return sorted_; }
  std::size_t memory_bytes() const;

  // Stable: samples of equal time keep their order.  Cheap where only neighbours are out of order, as in a
  // recording whose buffers were emptied in turn.
  void sort_by_time();

 private:
  bool merge_runs();
  void merge(std::size_t begin, std::size_t middle, std::size_t end, std::vector<std::uint32_t>& order);

  CompactColumn<std::int64_t> times_;
  std::vector<StackId> stacks_;
  CompactColumn<ContextId> contexts_;
  CompactColumn<std::uint64_t> weights_;
  std::vector<SampleContext> context_table_;
  FlatMap<std::uint64_t, ContextId> context_ids_;
  bool sorted_ = true;
};

}  // namespace nodescope
