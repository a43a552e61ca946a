// From a profile in memory to what a person sees.  The profile has the shape of a recording of a busy Node.js
// service: 45,000 distinct stacks of about 40 frames, which as folded text are 38 MB.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <random>

#include "analysis/diff.h"
#include "analysis/function_table.h"
#include "analysis/selection.h"
#include "render/flame_svg.h"

namespace nodescope {
namespace {

constexpr std::size_t kStacks = 45'000;
constexpr std::size_t kFunctions = 7'000;

Profile make_profile(std::uint32_t seed) {
  std::mt19937 random(seed);
  Profile profile;
  const EventId event = profile.intern_event("cpu-clock", Unit::kNanoseconds);
  const ThreadId thread = profile.intern_thread(profile.intern_process(4711, "node"), 4711, "node");
  std::vector<FrameId> frames;
  for (std::size_t i = 0; i < kFunctions; ++i) {
    Frame frame;
    frame.kind = i % 3 == 0 ? FrameKind::kJs : FrameKind::kNative;
    frame.function = profile.strings.intern(fmt::format("function_{}", i));
    if (i % 3 == 0) {
      frame.file = profile.strings.intern(fmt::format("/app/src/module{}/index.js", i % 97));
      frame.line = static_cast<std::uint32_t>(i);
      frame.column = 9;
      frame.tier = static_cast<JsTier>(i % 5);
    }
    frames.push_back(profile.frames.intern(frame));
  }
  // Stacks that share their lower part with the one before, as samples of one program do.
  std::vector<StackId> path = {kEmptyStack};
  for (std::size_t i = 0; i < kStacks; ++i) {
    const std::size_t keep = std::min<std::size_t>(path.size(), 1 + random() % 42);
    path.resize(keep);
    while (path.size() < 36 + random() % 10) {
      // A few callees per function, the first of them most often.
      const std::size_t callee = path.back().index() * 31 + std::min(random() % 8, random() % 8);
      path.push_back(profile.stacks.push(path.back(), frames[callee % frames.size()]));
    }
    for (int k = 0; k < 5; ++k) {
      profile.samples.add(
          {static_cast<std::int64_t>(i) * 1'000'000, path.back(), {thread, 0, event}, 200'040});
    }
  }
  return profile;
}

const Profile& profile_a() {
  static const Profile profile = make_profile(1);
  return profile;
}
const Profile& profile_b() {
  static const Profile profile = make_profile(2);
  return profile;
}

void draw(benchmark::State& state, const CallTreeOptions& tree, const FlameOptions& options) {
  std::uint64_t boxes = 0;
  for (auto _ : state) {
    StringSink sink;
    const auto report = write_flame_svg(profile_a(), tree, options, sink);
    boxes = report->boxes;
    benchmark::DoNotOptimize(sink.text().data());
  }
  state.counters["boxes"] = static_cast<double>(boxes);
}

void flame_svg(benchmark::State& state) {
  draw(state, {}, {});
}
BENCHMARK(flame_svg)->Unit(benchmark::kMillisecond);

void flame_svg_of_every_box(benchmark::State& state) {
  FlameOptions options;
  options.min_width = {0, false};
  draw(state, {}, options);
}
BENCHMARK(flame_svg_of_every_box)->Unit(benchmark::kMillisecond);

void reversed_flame_svg(benchmark::State& state) {
  CallTreeOptions tree;
  tree.reversed = true;
  draw(state, tree, {});
}
BENCHMARK(reversed_flame_svg)->Unit(benchmark::kMillisecond);

void flame_chart_svg(benchmark::State& state) {
  CallTreeOptions tree;
  tree.time_order = true;
  draw(state, tree, {});
}
BENCHMARK(flame_chart_svg)->Unit(benchmark::kMillisecond);

void diff_svg(benchmark::State& state) {
  for (auto _ : state) {
    const Diff diff = derive_diff(profile_a(), profile_b(), {});
    const FlameOptions options;
    DiffTreeOptions tree;
    tree.min_total = min_total(options, diff.width_total(tree.width));
    StringSink sink;
    benchmark::DoNotOptimize(write_flame_svg(diff.derive_tree(tree), options, sink));
  }
}
BENCHMARK(diff_svg)->Unit(benchmark::kMillisecond);

void function_table(benchmark::State& state) {
  FunctionTableOptions options;
  options.group = static_cast<GroupBy>(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(derive_function_table(profile_a(), options));
}
BENCHMARK(function_table)
    ->Arg(static_cast<int>(GroupBy::kFunction))
    ->Arg(static_cast<int>(GroupBy::kPackage))
    ->Unit(benchmark::kMillisecond);

void selection(benchmark::State& state) {
  Selection selection;
  selection.include = {"function_[0-9]*7\\b"};
  selection.only_my_code = true;
  for (auto _ : state) {
    state.PauseTiming();
    Profile profile = make_profile(1);
    state.ResumeTiming();
    benchmark::DoNotOptimize(derive_selection(std::move(profile), selection));
  }
}
BENCHMARK(selection)->Unit(benchmark::kMillisecond)->Iterations(5);

}  // namespace
}  // namespace nodescope
