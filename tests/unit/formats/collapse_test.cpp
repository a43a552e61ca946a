#include "formats/perf_script/collapse.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "support/profiles.h"

namespace nodescope {
namespace {

using testing::read_test_file;
using testing::source_path;

struct Collapsed {
  std::string text;
  Diagnostics diagnostics;
};

Collapsed collapse(std::string_view script, const CollapseOptions& options = {}, unsigned threads = 1) {
  MemorySource source(script, "test.script");
  StringSink sink;
  const auto diagnostics = collapse_perf_script(source, options, {.threads = threads}, sink);
  EXPECT_TRUE(diagnostics.has_value());
  return {sink.text(), diagnostics.value_or(Diagnostics{})};
}

// A pipe: no size, and few bytes at a time.
class TricklingSource final : public ByteSource {
 public:
  explicit TricklingSource(std::string_view text) : memory_(text, "pipe") {}
  Result<std::size_t> read(std::span<std::byte> into) override {
    return memory_.read(into.first(std::min<std::size_t>(into.size(), 61)));
  }
  std::string_view name() const override { return "pipe"; }

 private:
  MemorySource memory_;
};

// "expected--all--tid" -> the options in its name.
CollapseOptions options_of(std::string name) {
  CollapseOptions options;
  name.erase(0, std::string("expected").size());
  constexpr std::string_view kEventFilter = "--event-filter=";
  if (const std::size_t filter = name.find(kEventFilter); filter != std::string::npos) {
    options.event_filter = name.substr(filter + kEventFilter.size());
    name.resize(filter);
  }
  const auto has = [&](std::string_view option) { return name.find(option) != std::string::npos; };
  options.pid = has("--pid");
  options.tid = has("--tid");
  options.kernel = has("--kernel") || has("--all");
  options.jit = has("--jit") || has("--all");
  options.addrs = has("--addrs");
  options.srcline = has("--srcline");
  return options;
}

// Every file "expected…" below tests/golden/collapse is what stackcollapse-perf.pl printed.
TEST(Collapse, GoldenCases) {
  const std::string folder = "tests/golden/collapse/";
  std::size_t cases = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source_path(folder))) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with("expected")) continue;
    const std::string name = entry.path().parent_path().filename().string();
    const std::string input = read_test_file(folder + name + "/input");
    const std::string expected = read_test_file(folder + name + "/" + file);
    EXPECT_EQ(collapse(input, options_of(file)).text, expected) << name << "/" << file;

    TricklingSource pipe(input);
    StringSink sink;
    EXPECT_TRUE(collapse_perf_script(pipe, options_of(file), {.threads = 2}, sink).has_value());
    EXPECT_EQ(sink.text(), expected) << name << "/" << file << " from a pipe";
    ++cases;
  }
  EXPECT_GT(cases, 30u);
}

TEST(Collapse, SaysWhichOtherEventItMetFirst) {
  const std::string script =
      "a0 1 2.5: 1 cycles:\n\t 1 f (/x)\n\n"
      "a0 1 2.5: 1 page-faults:\n\t 1 f (/x)\n\n"
      "a0 1 2.5: 1 instructions:\n\t 1 f (/x)\n\n";
  const Collapsed by_default = collapse(script);
  EXPECT_EQ(by_default.text, "a0;f 1\n");
  ASSERT_EQ(by_default.diagnostics.count(kOtherEventsLeftOut), 1u);
  EXPECT_EQ(by_default.diagnostics.entries()[0].example, "page-faults");
  EXPECT_EQ(by_default.diagnostics.entries()[0].severity, Severity::kWarning);
  // What was asked for needs no warning.
  EXPECT_EQ(collapse(script, {.event_filter = "instructions"}).diagnostics.count(kOtherEventsLeftOut), 0u);
}

TEST(Collapse, CountsLinesItDoesNotUnderstand) {
  const Collapsed collapsed = collapse("a0 1 2.5: 1 cycles:\n\tx\n\t 1 f (/x)\n\ty\n\tx\n\n");
  EXPECT_EQ(collapsed.text, "a0;f 1\n");
  ASSERT_EQ(collapsed.diagnostics.count("Unrecognized line"), 3u);
  EXPECT_EQ(collapsed.diagnostics.entries()[0].example, "\tx");
}

TEST(Collapse, AsksForInlinedFunctions) {
  const std::string script =
      "a0 1 2.5: 1 cycles:\n\t 12 f+0x3 (/bin/x)\n\t 13 g (/bin/unknown)\n\t 14 h ([kernel.kallsyms])\n"
      "\t 15 i (/tmp/perf-1.map)\n\n";
  CollapseOptions options;
  std::string asked;
  options.resolve_inlined = [&](std::string_view address, std::string_view function,
                                std::string_view module) {
    asked += std::string(address) + " " + std::string(function) + " " + std::string(module) + "\n";
    return std::string(module == "/bin/x" ? "outer;inner(int)" : "??");
  };
  EXPECT_EQ(collapse(script, options).text, "a0;i;h;g;f 1\n");
  EXPECT_EQ(asked, "");
  options.inlined = true;
  EXPECT_EQ(collapse(script, options).text, "a0;i;h;g;outer;inner(int) 1\n");
  EXPECT_EQ(asked, "12 f+0x3 /bin/x\n13 g /bin/unknown\n");
}

std::string many_samples() {
  std::string script = "# ========\n\n\n";
  for (int i = 0; script.size() < 20'000'000; ++i) {
    const int kind = i % 97;
    script += (kind % 5 == 0 ? "java " : "V8 Worker ") + std::to_string(kind) + " 1.5: " + std::to_string(i) +
              (kind == 96 ? " other:\n" : " cycles:\n");
    for (int frame = 0; frame < 10 + kind % 30; ++frame) {
      script += "\t   ffff" + std::to_string(frame) + " Lfunction/" + std::to_string((frame * i) % 1013) +
                "+0x" + std::to_string(i % 7) + " (/usr/bin/node)\n";
    }
    if (kind == 50) script += "\tnot understood\n";
    script += kind == 40 ? "\n\n\n" : "\n";
  }
  // Longer than a part, without an end.
  script += "deep 1 2.5: 1 cycles:\n";
  while (script.size() < 30'000'000) script += "\t 1 a_function_that_calls_itself (/x)\n";
  return script + "\nlast 1 2.5: 1 cycles:\n\t 1 f (/x)\n\n";
}

TEST(Collapse, IsTheSameWithSeveralThreads) {
  const std::string script = many_samples();
  const Collapsed one = collapse(script);
  EXPECT_NE(one.text.find("last;f 1\n"), std::string::npos);
  for (const unsigned threads : {2u, 3u, 8u}) {
    const Collapsed several = collapse(script, {}, threads);
    EXPECT_TRUE(several.text == one.text) << threads;
    EXPECT_EQ(several.diagnostics, one.diagnostics) << threads;
  }
}

// The event that counts may be known only after some megabytes of other text.
TEST(Collapse, FindsTheFirstEventWhereverItIs) {
  std::string script;
  while (script.size() < 13'000'000) script += "no event 1 2.5: trace text\n\t 1 f (/x)\n\n";
  script += "a0 1 2.5: 1 late:\n\t 1 f (/x)\n\na0 1 2.5: 1 later:\n\t 1 f (/x)\n\n";
  while (script.size() < 26'000'000) script += "a0 1 2.5: 1 later:\n\t 1 f (/x)\n\n";
  script += "a0 1 2.5: 1 late:\n\t 1 f (/x)\n\n";
  const Collapsed one = collapse(script);
  EXPECT_NE(one.text.find("a0;f 2\n"), std::string::npos);
  const Collapsed several = collapse(script, {}, 3);
  EXPECT_EQ(several.text, one.text);
  EXPECT_EQ(several.diagnostics, one.diagnostics);
}

TEST(Collapse, SurvivesAMillionFrames) {
  std::string script = "a0 1 2.5: 1 cycles:\n";
  for (int i = 0; i < 1'000'000; ++i) script += "\t 1 f" + std::to_string(i) + " (/x)\n";
  const Collapsed collapsed = collapse(script + "\n");
  EXPECT_TRUE(collapsed.text.starts_with("a0;f999999;f999998;"));
  EXPECT_TRUE(collapsed.text.ends_with(";f1;f0 1\n"));
}

TEST(Collapse, LeavesOutALineWithoutEnd) {
  std::string script = "a0 1 2.5: 1 cycles:\n\t 1 f (/x)\n\n";
  script += std::string((std::size_t{64} << 20) + 100'000, 'x') + "\n" + script;
  const Collapsed collapsed = collapse(script);
  EXPECT_EQ(collapsed.text, "a0;f 2\n");
  EXPECT_EQ(collapsed.diagnostics.count("line longer than 64 MB left out"), 1u);
}

TEST(Collapse, EveryPrefixIsSafe) {
  const std::string script = read_test_file("tests/golden/collapse/habits/input");
  for (std::size_t size = 0; size <= script.size(); ++size) {
    const std::string prefix = script.substr(0, size);
    collapse(prefix);
    collapse(prefix, {.srcline = true});
  }
}

// The script forgets it without a word.
TEST(Collapse, SaysThatALastSampleWithoutAnEmptyLineIsLeftOut) {
  const Collapsed collapsed =
      collapse("a0 1 2.5: 1 cycles:\n\t 1 f (/x)\n\na0 1 2.6: 1 cycles:\n\t 1 g (/x)\n");
  EXPECT_EQ(collapsed.text, "a0;f 1\n");
  EXPECT_EQ(collapsed.diagnostics.count(kLastSampleForgotten), 1u);
  EXPECT_EQ(collapse("a0 1 2.5: 1 cycles:\n\t 1 f (/x)\n\n").diagnostics.count(kLastSampleForgotten), 0u);
}

// Of a text without samples nothing is printed, as by the script.
TEST(Collapse, NothingInIsNothingOut) {
  for (const std::string_view text : {"", "\n\n\n", "# comment\n", "\r\n"})
    EXPECT_EQ(collapse(text).text, "");
}

}  // namespace
}  // namespace nodescope
