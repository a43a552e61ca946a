#include "os/perf_sampler.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstring>

namespace nodescope {
namespace {

perf_event_header header_of(std::span<const std::byte> record) {
  perf_event_header header{};
  std::memcpy(&header, record.data(), sizeof header);
  return header;
}

std::chrono::nanoseconds cpu_time() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

void work_for(std::chrono::milliseconds time) {
  const auto end = cpu_time() + time;
  volatile unsigned sink = 0;
  while (cpu_time() < end) sink = sink + 1;
}

std::size_t count_samples(PerfSampler& sampler) {
  std::size_t samples = 0;
  for (const auto record : sampler.collect()) {
    const perf_event_header header = header_of(record);
    EXPECT_EQ(header.size, record.size());
    if (header.type == PERF_RECORD_SAMPLE) ++samples;
  }
  sampler.release();
  return samples;
}

TEST(PerfSampler, SamplesItsOwnProcess) {
  PerfSampler sampler({.frequency_hz = 999, .stack_bytes = 8192});
  const auto attached = sampler.attach(::getpid());
  if (!attached && attached.error().code == ErrorCode::kPermission) GTEST_SKIP() << attached.error().message;
  ASSERT_TRUE(attached) << attached.error().message;
  std::size_t samples = 0;
  for (int i = 0; i < 10; ++i) {
    work_for(std::chrono::milliseconds(20));
    samples += count_samples(sampler);
  }
  sampler.stop();
  samples += count_samples(sampler);
  EXPECT_GT(samples, 10u);
  // The kernel's clock ran for as long as the samples say.
  const auto totals = sampler.read_totals();
  const auto expected = totals.cpu_ns / sampler.period_ns();
  const std::uint64_t taken = samples + totals.lost_records.value_or(0);
  EXPECT_LT(taken, expected + expected / 10 + 5);
  // Where a virtual machine was not let run, the clock went on without a sample.
  EXPECT_GT(taken, expected / 2);
}

TEST(PerfSampler, ARecordThatGoesAroundTheEndIsWhole) {
  PerfSampler sampler({.frequency_hz = 4999, .stack_bytes = 32768});
  const auto attached = sampler.attach(::getpid());
  if (!attached && attached.error().code == ErrorCode::kPermission) GTEST_SKIP() << attached.error().message;
  ASSERT_TRUE(attached) << attached.error().message;
  std::uint64_t bytes = 0;
  for (int i = 0; i < 200 && bytes < (std::uint64_t{64} << 20); ++i) {
    work_for(std::chrono::milliseconds(5));
    for (const auto record : sampler.collect()) bytes += header_of(record).size;
    sampler.release();
  }
  EXPECT_GT(bytes, std::uint64_t{16} << 20);
}

TEST(PerfSampler, NoSuchProcess) {
  PerfSampler sampler({});
  const auto attached = sampler.attach(999'999'999);
  ASSERT_FALSE(attached);
  EXPECT_EQ(attached.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace nodescope
