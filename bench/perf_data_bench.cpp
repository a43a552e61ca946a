// perf.data and perf-PID.map to memory.  The recording stands for a busy server at 4,999 Hz: 20 frames a
// sample, one sample in three with a stack that was not there before.  NODESCOPE_PERF_DATA=FILE reads a real
// one with all its symbols.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "binary/perf_map.h"
#include "formats/perf_data/perf_data.h"
#include "os/file.h"

namespace nodescope {
namespace {

constexpr std::uint64_t kContextUser = static_cast<std::uint64_t>(-512);

void put(std::string& bytes, std::initializer_list<std::uint64_t> words) {
  for (const std::uint64_t word : words) bytes.append(reinterpret_cast<const char*>(&word), 8);
}

std::uint64_t header(std::uint64_t type, std::uint64_t misc, std::uint64_t size) {
  return type | misc << 32 | size << 48;
}

// In pipe mode, which needs no offsets.
std::string make_recording(std::size_t samples) {
  constexpr std::uint64_t kSampleType = 1 | 2 | 4 | 32 | 256;  // ip, tid, time, call chain, period
  constexpr std::size_t kDepth = 20;
  std::string bytes = "PERFILE2";
  put(bytes,
      {16, header(64, 0, 8 + 128), 1 | std::uint64_t{128} << 32, 0, 4999, kSampleType, 0, 1 << 10 | 1 << 18});
  put(bytes, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> stack(kDepth);
  const auto address = [&] { return 0x7F0000000000 + random() % 60'000 * 16; };
  for (std::uint64_t& frame : stack) frame = address();
  for (std::size_t i = 0; i < samples; ++i) {
    if (i % 3 == 0) {
      for (std::size_t frame = 0; frame < random() % kDepth; ++frame) stack[frame] = address();
    }
    put(bytes, {header(9, 2, 8 + 40 + 8 + kDepth * 8), stack[0], 100, i * 200'000, 200'000, kDepth + 1,
                kContextUser});
    for (const std::uint64_t frame : stack) put(bytes, {frame});
  }
  return bytes;
}

void read_recording(benchmark::State& state) {
  const std::string bytes = make_recording(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    MemorySource source(bytes, "perf.data");
    const auto profile = kPerfDataFormat.read(source, {});
    if (!profile || profile->samples.size() != static_cast<std::size_t>(state.range(0))) {
      state.SkipWithError("not read");
      return;
    }
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes.size()) * state.iterations());
  state.SetItemsProcessed(state.range(0) * state.iterations());
}
BENCHMARK(read_recording)->Arg(30'000)->Arg(300'000)->Unit(benchmark::kMillisecond);

void read_real_recording(benchmark::State& state) {
  const char* path = std::getenv("NODESCOPE_PERF_DATA");
  if (path == nullptr) return state.SkipWithError("NODESCOPE_PERF_DATA is not set");
  for (auto _ : state) {
    HostFiles files;
    ReadOptions options;
    options.files = &files;
    const auto source = open_file(path);
    const auto profile = source ? kPerfDataFormat.read(**source, options) : std::unexpected(source.error());
    if (!profile) return state.SkipWithError(profile.error().message.c_str());
    state.counters["samples"] = static_cast<double>(profile->samples.size());
  }
}
BENCHMARK(read_real_recording)->Unit(benchmark::kMillisecond);

void parse_perf_map(benchmark::State& state) {
  std::mt19937_64 random(1);
  std::string text;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    text += fmt::format("{:x} {:x} JS:*handler_{} /srv/app/handlers/h{}.js:1:23\n",
                        0x7F0000000000 + random() % 0x4000000, 64 + random() % 2000, i, i % 50);
  }
  for (auto _ : state) {
    Diagnostics diagnostics;
    benchmark::DoNotOptimize(PerfMap::parse(text, diagnostics));
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * state.iterations());
}
BENCHMARK(parse_perf_map)->Arg(30'000)->Arg(300'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace nodescope
