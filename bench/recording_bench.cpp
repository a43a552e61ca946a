// Size and speed of .nscope recordings.  The profiles stand for a Node.js service that is sampled 99 times a
// second on four threads; a tenth of a day each, so that sizes times ten are those of a day (34 million
// samples).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "formats/format.h"
#include "formats/recording/recording.h"
#include "formats/recording/recording_writer.h"
#include "os/output_file.h"

namespace nodescope {
namespace {

constexpr std::int64_t kPeriodNs = 10'101'010;
constexpr std::size_t kThreads = 4;
constexpr std::size_t kDaySamples = 86'400 * 99 * kThreads;
constexpr std::size_t kStacks = 20'000;
constexpr std::size_t kFrames = 6'000;

struct Scenario {
  std::array<double, kThreads> busy;  // the share of time that a thread is not idle
  std::int64_t clock_ns;              // times are multiples of this
  bool common_tick;  // one sampler takes all threads at once; otherwise each has its own timer
};

constexpr std::array<double, kThreads> kService = {0.5, 0.15, 0.15, 0.05};
constexpr std::array<double, kThreads> kAllBusy = {1, 1, 1, 1};

Scenario scenario_of(std::int64_t index) {
  switch (index) {
    case 0:
      return {kService, 1, true};
    case 1:
      return {kService, 1'000, false};
    case 2:
      return {kService, 1, false};
    default:
      return {kAllBusy, 1, false};
  }
}

std::vector<StackId> make_stacks(Profile& profile, std::mt19937_64& random) {
  std::vector<FrameId> frames;
  for (std::size_t i = 0; i < kFrames; ++i) {
    Frame frame;
    frame.function = profile.strings.intern("handlerOfRequest" + std::to_string(random() % 1'000'000));
    frame.file =
        profile.strings.intern("/srv/app/node_modules/package" + std::to_string(i % 300) + "/lib/index.js");
    frame.line = static_cast<std::uint32_t>(random() % 2000);
    frame.column = static_cast<std::uint32_t>(random() % 80);
    frame.kind = FrameKind::kJs;
    frame.tier = JsTier::kTurbofan;
    frames.push_back(profile.frames.intern(frame));
  }
  // Each branches off another a few frames below its top: two new nodes a stack and a depth near 27, as
  // measured on a busy Node.js server.
  StackId trunk = kEmptyStack;
  for (std::size_t depth = 0; depth < 20; ++depth) trunk = profile.stacks.push(trunk, frames[depth]);
  std::vector<StackId> stacks = {trunk};
  while (stacks.size() < kStacks) {
    StackId stack = stacks[random() % stacks.size()];
    for (std::size_t up = random() % 4; up > 0 && profile.stacks.caller(stack) > trunk; --up) {
      stack = profile.stacks.caller(stack);
    }
    for (std::size_t down = 1 + random() % 3; down > 0; --down) {
      stack = profile.stacks.push(stack, frames[random() % frames.size()]);
    }
    stacks.push_back(stack);
  }
  return stacks;
}

// The shares of stacks fall as a power of their rank, with 11 bits of entropy, as measured there too.
std::vector<std::uint32_t> popular_ranks(std::mt19937_64& random) {
  std::vector<double> weights(kStacks);
  for (std::size_t i = 0; i < kStacks; ++i) weights[i] = 1 / std::pow(static_cast<double>(i) + 1, 0.93);
  std::discrete_distribution<std::uint32_t> choose(weights.begin(), weights.end());
  std::vector<std::uint32_t> ranks(1 << 20);
  for (std::uint32_t& rank : ranks) rank = choose(random);
  return ranks;
}

Profile make_profile(const Scenario& scenario, std::size_t samples) {
  std::mt19937_64 random(1);
  Profile profile;
  const EventId event = profile.intern_event("cpu-clock", Unit::kNanoseconds);
  const std::vector<StackId> stacks = make_stacks(profile, random);
  const std::vector<std::uint32_t> ranks = popular_ranks(random);
  std::normal_distribution<double> jitter(0, 3'000);
  std::uniform_real_distribution<double> share(0, 1);

  std::array<ContextId, kThreads> contexts;
  std::array<bool, kThreads> busy{};
  const ProcessId process = profile.intern_process(1000, "node");
  for (std::size_t t = 0; t < kThreads; ++t) {
    const ThreadId thread = profile.intern_thread(process, static_cast<std::int32_t>(1000 + t), "node");
    contexts[t] = profile.samples.intern({thread, kUnknownCpu, event});
  }
  for (std::int64_t tick = 0; profile.samples.size() < samples; ++tick) {
    const double common = std::abs(jitter(random));
    for (std::size_t t = 0; t < kThreads; ++t) {
      if (share(random) < 0.2) busy[t] = share(random) < scenario.busy[t];
      const auto phase = static_cast<double>(t) * 2.1e6;
      const double late = scenario.common_tick ? common : phase + std::abs(jitter(random));
      std::int64_t time = tick * kPeriodNs + static_cast<std::int64_t>(late);
      time -= time % scenario.clock_ns;
      const StackId stack = busy[t] ? stacks[ranks[random() % ranks.size()]] : stacks[t];
      profile.samples.add(time, stack, contexts[t], kPeriodNs);
    }
  }
  return profile;
}

void report(benchmark::State& state, std::size_t samples, std::size_t bytes) {
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * samples));
  state.counters["bytes_per_sample"] = static_cast<double>(bytes) / static_cast<double>(samples);
  state.counters["day_MB"] = static_cast<double>(bytes) / static_cast<double>(samples) * kDaySamples / 1e6;
}

void write_recording(benchmark::State& state) {
  const Profile profile = make_profile(scenario_of(state.range(0)), kDaySamples / 10);
  std::size_t bytes = 0;
  for (auto _ : state) {
    StringSink sink;
    if (!kRecordingFormat.write(profile, {}, sink)) state.SkipWithError("not written");
    bytes = sink.text().size();
  }
  report(state, profile.samples.size(), bytes);
}

void read_recording(benchmark::State& state) {
  StringSink sink;
  {
    const Profile profile = make_profile(scenario_of(state.range(0)), kDaySamples / 10);
    if (!kRecordingFormat.write(profile, {}, sink)) state.SkipWithError("not written");
  }
  std::size_t samples = 0;
  for (auto _ : state) {
    MemorySource source(sink.text(), "recording");
    const auto profile = kRecordingFormat.read(source, {});
    samples = profile ? profile->samples.size() : 0;
  }
  report(state, samples, sink.text().size());
}

// As a live session does it: a chunk each second.
void write_each_second(benchmark::State& state) {
  const Scenario scenario = scenario_of(state.range(0));
  const Profile whole = make_profile(scenario, kDaySamples / 100);
  std::size_t bytes = 0;
  for (auto _ : state) {
    state.PauseTiming();
    Profile growing = make_profile(scenario, 0);
    state.ResumeTiming();
    StringSink sink;
    RecordingWriter writer(sink);
    for (std::size_t i = 0; i < whole.samples.size(); ++i) {
      growing.samples.add(whole.samples[i]);
      if (i % (99 * kThreads) == 0 && !writer.append(growing)) state.SkipWithError("not written");
    }
    if (!writer.finish(growing)) state.SkipWithError("not written");
    bytes = sink.text().size();
  }
  report(state, whole.samples.size(), bytes);
}

// The whole day at once.  NODESCOPE_DAY=FILE keeps the recording, to be read by the program.
void write_day(benchmark::State& state) {
  const Profile profile = make_profile(scenario_of(state.range(0)), kDaySamples);
  const char* path = std::getenv("NODESCOPE_DAY");
  for (auto _ : state) {
    auto file = OutputFile::create(path != nullptr ? path : "/dev/null");
    if (!file || !kRecordingFormat.write(profile, {}, **file) || !(*file)->commit()) {
      state.SkipWithError("not written");
    }
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * profile.samples.size()));
}

void scenarios(benchmark::internal::Benchmark* bench) {
  bench->ArgName("scenario")->DenseRange(0, 3)->Unit(benchmark::kMillisecond);
}

BENCHMARK(write_recording)->Apply(scenarios);
BENCHMARK(read_recording)->Apply(scenarios);
BENCHMARK(write_each_second)->Apply(scenarios);
BENCHMARK(write_day)->ArgName("scenario")->Arg(2)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace nodescope
