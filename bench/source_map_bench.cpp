// What it costs to lead a profile to its sources by the map of a large bundle: a file of 20 MB in one line, a
// map of 60 MB, most of it texts of sources, and 5,000 places.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <random>
#include <string>

#include "source_maps/file_mapping.h"
#include "source_maps/source_map.h"

namespace nodescope {
namespace {

constexpr int kFunctions = 250'000;
constexpr int kFunctionsOfSource = 500;

std::string vlq(std::int64_t value) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  auto bits = static_cast<std::uint64_t>(value < 0 ? (-value << 1) | 1 : value << 1);
  std::string text;
  do {
    const std::uint64_t digit = bits & 31;
    bits >>= 5;
    text += kDigits[digit | (bits != 0 ? 32 : 0)];
  } while (bits != 0);
  return text;
}

struct Bundle {
  std::string text;
  std::string map;
  std::vector<GeneratedPlace> places;
};

Bundle make_bundle() {
  Bundle bundle;
  std::string mappings;
  std::string sources;
  std::string contents;
  std::int64_t last_column = 0;
  std::int64_t last_line = 0;
  std::int64_t last_original_column = 0;
  std::int64_t last_source = 0;
  const auto add_segment = [&](std::int64_t column, std::int64_t source, std::int64_t line,
                               std::int64_t original) {
    mappings += vlq(column - last_column) + vlq(source - last_source) + vlq(line - last_line) +
                vlq(original - last_original_column) + ",";
    last_column = column;
    last_source = source;
    last_line = line;
    last_original_column = original;
  };
  for (int i = 0; i < kFunctions; ++i) {
    const int source = i / kFunctionsOfSource;
    const int line = i % kFunctionsOfSource;
    if (line == 0) {
      sources += fmt::format("{}\"../src/module{}.ts\"", source == 0 ? "" : ",", source);
      contents += source == 0 ? "\"" : "\",\"";
    }
    const std::string parameters =
        "(e,t,n){const r=e.property+t.other*n;if(r>100)return compute(r,e.property);return r}";
    contents += fmt::format(
        "export function computeSomething{}(first: Shape, second: Shape, third: number): number {{ /* what "
        "it computes, "
        "and why */ const result = first.property + second.other * third; return result; }}\\n",
        i);
    const auto begin = static_cast<std::int64_t>(bundle.text.size());
    const std::string name = fmt::format("a{}", i);
    bundle.text += "function " + name;
    const auto open = static_cast<std::uint32_t>(bundle.text.size());
    bundle.text += parameters;
    add_segment(begin, source, line, 7);
    add_segment(begin + 9, source, line, 16);
    for (const int at : {1, 3, 5, 14, 16, 18, 29, 35, 40, 52, 66})
      add_segment(open + at, source, line, 20 + 2 * at);
    if (i % 50 == 0) bundle.places.push_back({{1, open + 20}, {1, open + 1}});
  }
  bundle.map =
      fmt::format(R"({{"version":3,"sources":[{}],"sourcesContent":[{}"],"names":[],"mappings":"{}"}})",
                  sources, contents, mappings);
  return bundle;
}

void lead_to_sources(benchmark::State& state) {
  const Bundle bundle = make_bundle();
  for ([[maybe_unused]] const auto round : state) {
    const auto map = SourceMap::parse(bundle.map, "/app/dist/main.js.map");
    const FileMapping mapping = map_places(*map, &bundle.text, bundle.places, {});
    if (!mapping.problem.empty() || mapping.places[0]->name != "computeSomething0")
      state.SkipWithError("not mapped");
  }
  state.counters["text_mb"] = static_cast<double>(bundle.text.size()) / 1e6;
  state.counters["map_mb"] = static_cast<double>(bundle.map.size()) / 1e6;
}
BENCHMARK(lead_to_sources)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace nodescope
