#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "os/stack_sampler.h"

namespace nodescope {

// Samples where the kernel refuses perf events: by stopping a process for a moment, some times a second, and
// only while one of its threads runs.  A sample stands for the time between two looks.
class StopSampler final : public StackSampler {
 public:
  static constexpr unsigned kMaxFrequency = 20;

  StopSampler(unsigned frequency_hz, std::uint32_t stack_bytes);
  ~StopSampler() override;

  void settle_features() override {}
  Result<void> attach(pid_t pid) override;
  // Not possible: nobody says when a process calls exec or starts another.
  Result<void> attach_before_exec(pid_t pid) override;

  bool sees_kernel() const override { return false; }
  std::uint64_t period_ns() const override { return static_cast<std::uint64_t>(period_.count()); }
  std::span<const std::byte> attribute() const override;

  std::span<const std::span<const std::byte>> collect() override;
  void release() override;
  Totals read_totals() const override { return {cpu_ns_, lost_}; }
  void stop() override { stopped_ = true; }

  struct Stops {
    std::uint64_t count = 0;
    std::uint64_t all_ns = 0;
    std::uint64_t longest_ns = 0;
  };
  const Stops& stops() const { return stops_; }

 private:
  struct Attribute;

  void look_at(pid_t pid);

  std::unique_ptr<Attribute> attribute_;
  std::chrono::nanoseconds period_;
  std::uint32_t stack_bytes_;
  std::chrono::steady_clock::time_point next_;
  std::vector<pid_t> pids_;
  std::vector<std::vector<std::byte>> bytes_;  // of the records
  std::vector<std::span<const std::byte>> records_;
  std::uint64_t cpu_ns_ = 0;
  std::uint64_t lost_ = 0;  // of threads that ran and could not be stopped
  Stops stops_;
  bool stopped_ = false;
};

}  // namespace nodescope
