// Text in, samples or folded stacks out, in memory: bytes per CPU second.  What the peers need for the same
// text is in docs/benchmarks.md.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <random>
#include <string>

#include "formats/folded/folded.h"
#include "formats/perf_script/collapse.h"
#include "formats/perf_script/perf_script.h"

namespace nodescope {
namespace {

// Like a busy Node.js program: deep stacks that share their outer part, about ten thousand distinct lines.
std::string perf_script_text(std::size_t bytes) {
  std::mt19937 random(1);
  std::string text;
  text.reserve(bytes + 4096);
  for (int sample = 0; text.size() < bytes; ++sample) {
    text += fmt::format("node  4984   {}.{:06}:     200040 cpu-clock:ppp: \n", 400 + sample / 5000,
                        sample % 5000 * 200);
    const unsigned path = random() % 40;
    const unsigned depth = 8 + random() % 40;
    for (unsigned frame = depth; frame != 0; --frame) {
      const unsigned function = frame < 12 ? frame : frame * 41 + path;
      const unsigned offset = frame == depth ? random() % 64 : function % 7;
      text += frame % 3 == 0
                  ? fmt::format(
                        "\t    7f6a6c{:06x} JS:*handler{} /srv/app/node_modules/lib{}/index.js:{}:9 "
                        "(/tmp/perf-4984.map)\n",
                        function * 64 + offset, function, function % 50, function % 900)
                  : fmt::format("\t         {:7x} v8::internal::Runtime_Function{}+0x{:x} (/usr/bin/node)\n",
                                function * 64 + offset, function, offset);
    }
    text += '\n';
  }
  return text;
}

const std::string& script() {
  static const std::string text = perf_script_text(std::size_t{64} << 20);
  return text;
}

std::string folded_text() {
  MemorySource source(script(), "bench");
  StringSink sink;
  if (!collapse_perf_script(source, {}, {}, sink)) std::abort();
  return sink.text();
}

const std::string& folded() {
  static const std::string text = folded_text();
  return text;
}

void collapse_script(benchmark::State& state) {
  for (auto _ : state) {
    MemorySource source(script(), "bench");
    StringSink sink;
    benchmark::DoNotOptimize(
        collapse_perf_script(source, {}, {.threads = static_cast<unsigned>(state.range(0))}, sink)
            .has_value());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(script().size()));
}
BENCHMARK(collapse_script)->Arg(1)->Arg(2)->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);

void read_script(benchmark::State& state) {
  for (auto _ : state) {
    MemorySource source(script(), "bench");
    benchmark::DoNotOptimize(
        kPerfScriptFormat.read(source, {.threads = static_cast<unsigned>(state.range(0))})->samples.size());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(script().size()));
}
BENCHMARK(read_script)->Arg(1)->Arg(2)->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);

void read_folded(benchmark::State& state) {
  for (auto _ : state) {
    MemorySource source(folded(), "bench");
    benchmark::DoNotOptimize(kFoldedFormat.read(source, {})->samples.size());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(folded().size()));
}
BENCHMARK(read_folded)->Unit(benchmark::kMillisecond);

void write_folded(benchmark::State& state) {
  MemorySource source(folded(), "bench");
  const Profile profile = *kFoldedFormat.read(source, {});
  for (auto _ : state) {
    StringSink sink;
    benchmark::DoNotOptimize(kFoldedFormat.write(profile, {}, sink).has_value());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(folded().size()));
}
BENCHMARK(write_folded)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace nodescope
