#pragma once

#include <cstdint>
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
  // Room for `count` values in all, taken only once they differ.
  void reserve(std::size_t count) { reserved_ = count; }
  T operator[](std::size_t i) const { return values_.empty() ? constant_ : values_[i]; }
  std::size_t size() const { return size_; }
  bool is_constant() const { return values_.empty(); }
  std::size_t memory_bytes() const { return values_.capacity() * sizeof(T); }

 private:
  std::vector<T> values_;
  T constant_{};
  std::size_t size_ = 0;
  std::size_t reserved_ = 0;
};

// Samples as columns: 16 bytes each where all weights are equal, as with a fixed sampling period.
class SampleTable {
 public:
  void add(const Sample& sample) { add(sample.time_ns, sample.stack, intern(sample.context), sample.weight); }
  void add(std::int64_t time_ns, StackId stack, ContextId context, std::uint64_t weight);
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
  bool is_sorted_by_time() const { return sorted_; }
  std::size_t memory_bytes() const;

  // Stable: samples of equal time keep their order.
  void sort_by_time();

 private:
  CompactColumn<std::int64_t> times_;
  std::vector<StackId> stacks_;
  CompactColumn<ContextId> contexts_;
  CompactColumn<std::uint64_t> weights_;
  std::vector<SampleContext> context_table_;
  FlatMap<std::uint64_t, ContextId> context_ids_;
  bool sorted_ = true;
};

}  // namespace nodescope
