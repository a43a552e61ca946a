// How fast a .cpuprofile is read and written.  The profile is made here, in the shape of V8's: a tree of some
// 20,000 nodes and, as in a long recording, far more text in samples than in nodes.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <random>
#include <string>

#include "formats/cpuprofile/cpuprofile.h"

namespace nodescope {
namespace {

constexpr std::uint32_t kNodes = 20'000;

std::string make_cpuprofile(std::size_t samples) {
  std::mt19937 random(7);
  std::string text = "{\"nodes\":[";
  for (std::uint32_t id = 1; id <= kNodes; ++id) {
    const std::string name = id == 1 ? "(root)" : fmt::format("handle{}", random() % 3000);
    fmt::format_to(
        std::back_inserter(text),
        R"({}{{"id":{},"callFrame":{{"functionName":"{}","scriptId":"{}","url":"file:///srv/app/src/part{}.js",)"
        R"("lineNumber":{},"columnNumber":{}}},"hitCount":{})",
        id == 1 ? "" : ",", id, name, id == 1 ? 0 : id % 300, random() % 300, random() % 2000, random() % 80,
        random() % 50);
    // Node n has the children 2n and 2n + 1.
    if (2 * id + 1 <= kNodes) {
      fmt::format_to(std::back_inserter(text), ",\"children\":[{},{}]", 2 * id, 2 * id + 1);
    }
    text += '}';
  }
  text += "],\"startTime\":81234567890,\"endTime\":91234567890,\"samples\":[";
  for (std::size_t i = 0; i < samples; ++i) {
    fmt::format_to(std::back_inserter(text), "{}{}", i == 0 ? "" : ",", 1 + random() % (kNodes - 1));
  }
  text += "],\"timeDeltas\":[";
  for (std::size_t i = 0; i < samples; ++i) {
    fmt::format_to(std::back_inserter(text), "{}{}", i == 0 ? "" : ",", 900 + random() % 400);
  }
  return text + "]}";
}

void read_cpuprofile(benchmark::State& state) {
  const std::string text = make_cpuprofile(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    MemorySource source(text, "bench");
    auto profile = kCpuProfileFormat.read(source, {});
    benchmark::DoNotOptimize(profile);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(read_cpuprofile)->Arg(1'000)->Arg(1'000'000)->Arg(10'000'000)->Unit(benchmark::kMillisecond);

void write_cpuprofile(benchmark::State& state) {
  const std::string text = make_cpuprofile(static_cast<std::size_t>(state.range(0)));
  MemorySource source(text, "bench");
  const auto profile = kCpuProfileFormat.read(source, {});
  for (auto _ : state) {
    StringSink sink;
    const auto written = kCpuProfileFormat.write(*profile, {}, sink);
    benchmark::DoNotOptimize(written);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}
BENCHMARK(write_cpuprofile)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace nodescope
