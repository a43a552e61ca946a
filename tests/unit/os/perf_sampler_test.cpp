#include "os/perf_sampler.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>
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

void work_for(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  volatile unsigned sink = 0;
  while (std::chrono::steady_clock::now() < end) sink = sink + 1;
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
  EXPECT_NEAR(static_cast<double>(samples + totals.lost_records.value_or(0)), static_cast<double>(expected),
              0.2 * static_cast<double>(expected) + 5);
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
