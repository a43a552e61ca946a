#include "formats/perf_script/perf_script.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "formats/folded/folded.h"
#include "formats/perf_script/frame_line.h"
#include "formats/perf_script/sample_line.h"
#include "formats/symbol_name.h"
#include "support/profiles.h"

namespace nodescope {
namespace {

using testing::read_test_file;
using testing::source_path;
using testing::to_text;

Profile read(std::string_view text, unsigned threads = 1) {
  MemorySource source(text, "test.script");
  auto profile = kPerfScriptFormat.read(source, {.threads = threads});
  EXPECT_TRUE(profile.has_value());
  return profile ? std::move(*profile) : Profile();
}

std::string describe(const Profile& profile, const Frame& frame) {
  std::string text = fmt::format(" {}@{}", symbol_of_frame(profile, frame), profile.text(frame.module));
  if (frame.kind == FrameKind::kNative && frame.file != StringId{}) {
    text += fmt::format("{} {}:{}", frame.inlined ? " inlined" : "", profile.text(frame.file), frame.line);
  } else if (frame.inlined) {
    text += " inlined";
  }
  return text;
}

// One line per sample, in order.
std::string describe(const Profile& profile) {
  std::string text;
  for (std::size_t i = 0; i < profile.samples.size(); ++i) {
    const Sample sample = profile.samples[i];
    const Thread& thread = profile.thread(sample.context.thread);
    const bool has_pid = thread.process != ProcessId{};
    const bool has_tid = sample.context.thread != ThreadId{};
    text +=
        fmt::format("{} {} {} <{}> cpu {} {} {}:", sample.time_ns,
                    has_pid ? std::to_string(profile.process(thread.process).pid) : "-",
                    has_tid ? std::to_string(thread.tid) : "-", profile.text(thread.name), sample.context.cpu,
                    profile.text(profile.event(sample.context.event).name), sample.weight);
    for (const FrameId frame : profile.stacks.unwind(sample.stack))
      text += describe(profile, profile.frames[frame]);
    text += '\n';
  }
  if (profile.lost_samples != 0) text += fmt::format("lost {}\n", profile.lost_samples);
  return text;
}

TEST(PerfScript, GoldenCases) {
  const std::string folder = "tests/golden/perf-script/";
  std::size_t cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(source_path(folder))) {
    const std::string name = entry.path().filename().string();
    const std::string input = read_test_file(folder + name + "/input");
    const Profile profile = read(input);
    EXPECT_EQ(describe(profile), read_test_file(folder + name + "/expected")) << name;
    EXPECT_EQ(profile.diagnostics.entries(), std::vector<Diagnostic>{}) << name;
    EXPECT_TRUE(kPerfScriptFormat.recognise(std::string_view(input).substr(0, kHeadBytes))) << name;
    EXPECT_FALSE(kFoldedFormat.recognise(std::string_view(input).substr(0, kHeadBytes))) << name;
    ++cases;
  }
  EXPECT_GE(cases, 14u);
}

TEST(PerfScript, ReadsFactsOfTheHeader) {
  const Profile profile = read(
      "# ========\n# captured on    : Sun Nov 15 17:24:03 2026\n# hostname : web1\n# os release : 6.1.0\n"
      "# cmdline : /usr/bin/perf record -g -- node a:b.js \n# event : name = cpu-clock\n#\n"
      "node 1 2.5: 1 cycles:\n\t 1 f (/x)\n\n");
  EXPECT_EQ(profile.facts.at("recorded by"), "/usr/bin/perf record -g -- node a:b.js");
  EXPECT_EQ(profile.facts.at("host"), "web1");
  EXPECT_EQ(profile.facts.at("os"), "6.1.0");
  EXPECT_EQ(profile.facts.at("recorded"), "Sun Nov 15 17:24:03 2026");
  EXPECT_EQ(profile.facts.at("format"), "perf script");
  EXPECT_EQ(profile.samples.size(), 1u);
}

TEST(PerfScript, PeriodsOfClocksAreNanoseconds) {
  const Profile profile = read(
      "node 1 2.5: 250000 cpu-clock:ppp:\n\nnode 1 2.5: 7 task-clock:u:\n\nnode 1 2.5: 8 cycles:\n\n"
      "node 1 2.5: cpu-clock:\n\n");
  ASSERT_EQ(profile.samples.size(), 4u);
  const auto unit = [&](std::size_t i) { return profile.event(profile.samples.context(i).event).unit; };
  EXPECT_EQ(unit(0), Unit::kNanoseconds);
  EXPECT_EQ(unit(1), Unit::kNanoseconds);
  EXPECT_EQ(unit(2), Unit::kCount);
  EXPECT_EQ(unit(3), Unit::kSamples);
  EXPECT_EQ(profile.samples.weight(0), 250'000u);
  EXPECT_EQ(profile.samples.weight(3), 1u);
  EXPECT_EQ(profile.text(profile.events()[0].name), "cpu-clock:ppp");
}

struct LineCase {
  std::string_view line;
  std::string expected;
};

TEST(PerfScript, ReadsEveryShapeOfAFirstLine) {
  const std::vector<LineCase> cases = {
      {"node  4984   482.997627:     200040 cpu-clock:ppp: ",
       "482997627000|node|-|4984|-1|200040|cpu-clock:ppp|"},
      {"node  4984/4990 [001] 482.997627123: cycles:u: ", "482997627123|node|4984|4990|1|-|cycles:u|"},
      {"V8 WorkerThread 24636/25607 [000] 94564.109216: 100 cycles:",
       "94564109216000|V8 WorkerThread|24636|25607|0|100|cycles|"},
      {"Chrome 12 Thread 7/8 [003] 1.5: 9 cycles:", "1500000000|Chrome 12 Thread|7|8|3|9|cycles|"},
      {":-1    -1 [002] 1.5: 9 cycles:", "1500000000|:-1|-|-1|2|9|cycles|"},
      {"java 19983 cycles:", "-|java|-|19983|-1|-|cycles|"},
      {"node-v011 31912 cpu-clock: ", "-|node-v011|-|31912|-1|-|cpu-clock|"},
      {"swapper     0 [000] cycles:", "-|swapper|-|0|0|-|cycles|"},
      {"node 7 200040 cycles:", "-|node|-|7|-1|200040|cycles|"},
      {"  805.377639: ", "805377639000||-|-|-1|-||"},
      {"node 5 805.377639: ", "805377639000|node|-|5|-1|-||"},
      {"node 805.377639: ", "805377639000|node|-|-|-1|-||"},
      {"node ", "-|node|-|-|-1|-||"},
      {"my app ", "-|my app|-|-|-1|-||"},
      {"node 1 [000] U   12.5: 3 cycles: ", "12500000000|node|-|1|0|3|cycles|"},
      {"kworker/0:1H 44 [000] 12.5: 3 cycles: ", "12500000000|kworker/0:1H|-|44|0|3|cycles|"},
      {"node 1 [000] 12.5: sched:sched_switch: prev_comm=a b prev_pid=3",
       "12500000000|node|-|1|0|-|sched:sched_switch|prev_comm=a b prev_pid=3"},
      {"            node  5510   805.377639:    5025125 cpu-clock:ppp:  ffffffff82200309 f+0x19 "
       "([kernel.kallsyms])",
       "805377639000|node|-|5510|-1|5025125|cpu-clock:ppp|ffffffff82200309 f+0x19 ([kernel.kallsyms])"},
      {"dd 29776 666709.771979:   10101010 cpu-clock: \r",
       "666709771979000|dd|-|29776|-1|10101010|cpu-clock|"},
      {"node 1 2.5: 99999999999999999999 cycles:", "2500000000|node|-|1|-1|18446744073709551615|cycles|"},
      {"node 1 99999999999999.5: 1 cycles:", "-|node|-|1|-1|1|cycles|"},
      {"node 99999999999 2.5: 1 cycles:", "2500000000|node|-|-|-1|1|cycles|"},
  };
  for (const LineCase& c : cases) {
    const auto line = parse_sample_line(c.line);
    ASSERT_TRUE(line.has_value()) << c.line;
    const SampleSource source = parse_sample_source(line->source);
    const auto shown = [](const auto& value) { return value ? std::to_string(*value) : "-"; };
    EXPECT_EQ(fmt::format("{}|{}|{}|{}|{}|{}|{}|{}", shown(line->time_ns), source.comm, shown(source.pid),
                          shown(source.tid), source.cpu, shown(line->period), line->event, line->rest),
              c.expected)
        << c.line;
  }
  for (const std::string_view line :
       {"", "   ", "node", "ffffffff8103d0ca native_write_msr_safe ([kernel.kallsyms])",
        "            13a80b608e0a RegExp:[&<>\"'] (/tmp/perf-7539.map)", "  file.cpp:137", "    12 345"}) {
    EXPECT_FALSE(parse_sample_line(line).has_value()) << line;
  }
}

TEST(PerfScript, ReadsEveryShapeOfAFrame) {
  const std::vector<LineCase> cases = {
      {"\tffffffff816c9547 inode_permission+0x27 ([kernel.kallsyms])", "inode_permission|[kernel.kallsyms]"},
      {"\t           153e0 f.constprop.0+0x270 (/usr/lib/ld.so.2)", "f.constprop.0|/usr/lib/ld.so.2"},
      {"\t    7f3b28c4b8a8 [unknown] ([unknown])", "[unknown]|[unknown]"},
      {"\t            2673 (anonymous namespace)::outer+0x23 (/srv/a)",
       "(anonymous namespace)::outer|/srv/a"},
      {"\t            2673 (anonymous namespace)::outer", "(anonymous namespace)::outer|"},
      {"\t            2673 void (anonymous namespace)::f(int)", "void (anonymous namespace)::f(int)|"},
      {"\t            2673 foo(int) (.cold)", "foo(int) (.cold)|"},
      {"\t            2673 foo(int) (.cold) (/srv/a)", "foo(int) (.cold)|/srv/a"},
      {"\t            2673", "|"},
      {"2673", "|"},
      {"\t            2673 (/srv/a)", "|/srv/a"},
      {"\t 1 RegExp:^\\/api\\/(\\w+) (/tmp/perf-1.map)", "RegExp:^\\/api\\/(\\w+)|/tmp/perf-1.map"},
      {"\t 1 RegExp:\\)\\) (/tmp/perf-1.map)", "RegExp:\\)\\)|/tmp/perf-1.map"},
      {"\t 1 RegExp:(( (/tmp/perf-1.map)", "RegExp:((|/tmp/perf-1.map"},
      {"\t 1 VisitNode<(Phase)0>+0x10 (/usr/bin/node)", "VisitNode<(Phase)0>|/usr/bin/node"},
      {"\t 1 operator new(unsigned long)+0x1b (/usr/lib/l.so)", "operator new(unsigned long)|/usr/lib/l.so"},
      {"\t 1 foo+0x3 (/memfd:doublemapper (deleted))", "foo|/memfd:doublemapper (deleted)"},
      {"\t 1 foo+0x3 (/tmp/a(b)", "foo|/tmp/a(b"},
      {"\t 1 Ljava/io/PrintStream;::print (/tmp/perf-19982.map)",
       "Ljava/io/PrintStream;::print|/tmp/perf-19982.map"},
      {"\t 1 JS:~a b /srv/x y.js:3:9 (/tmp/perf-1.map)\r", "JS:~a b /srv/x y.js:3:9|/tmp/perf-1.map"},
      {"\t 1 foo+0xAB (/a)", "foo+0xAB|/a"},
  };
  for (const LineCase& c : cases) {
    const auto frame = parse_frame_line(c.line);
    ASSERT_TRUE(frame.has_value()) << c.line;
    EXPECT_EQ(fmt::format("{}|{}", frame->symbol, frame->module), c.expected) << c.line;
  }
  for (const std::string_view line :
       {"", "\t", "\tnot hexadecimal", "\t12345678901234567 f (/a)", "\t12:3 f (/a)"}) {
    EXPECT_FALSE(parse_frame_line(line).has_value()) << line;
  }
  EXPECT_TRUE(parse_frame_line("\t 98a9a tcache_get+0x16a (inlined)")->inlined);
}

TEST(PerfScript, KnowsKindsOfFrames) {
  const Profile profile = read(
      "node 1 2.5: 1 cycles:\n"
      "\tffffffff816c9547 kernel_inlined (inlined)\n"
      "\tffffffff816c9547 inode_permission ([kernel.kallsyms])\n"
      "\t 1 v8::internal::Heap::Scavenge (/usr/bin/node)\n"
      "\t 1 Builtins_ArrayMap (/usr/bin/node)\n"
      "\t 1 JS:*fib /app/x.js:3:9 (/tmp/perf-1.map)\n"
      "\t 1 [unknown] (/usr/lib/libc.so.6)\n"
      "\t 1 [unknown] ([unknown])\n\n");
  std::string kinds;
  for (const FrameId id : profile.stacks.unwind(profile.samples.stack(0))) {
    const Frame& frame = profile.frames[id];
    kinds += fmt::format("{}:{}:{} ", to_string(frame.kind), profile.text(frame.function),
                         profile.text(frame.module));
  }
  EXPECT_EQ(kinds,
            "unknown:: unknown::/usr/lib/libc.so.6 js:fib:/tmp/perf-1.map builtin:ArrayMap:/usr/bin/node "
            "gc:v8::internal::Heap::Scavenge:/usr/bin/node kernel:inode_permission:[kernel.kallsyms] "
            "kernel:kernel_inlined: ");
}

// A process is called like its first thread, whatever its other threads are called.
TEST(PerfScript, NamesProcesses) {
  const Profile profile = read(
      "worker 10/12 1.5: 1 cycles:\n\nperf-exec 10/10 1.5: 1 cycles:\n\nnode 10/10 1.5: 1 cycles:\n\n"
      "helper 20/21 1.5: 1 cycles:\n\nother 20/22 1.5: 1 cycles:\n\nalone 30 1.5: 1 cycles:\n\n");
  const auto name = [&](std::size_t i) {
    const Thread& thread = profile.thread(profile.samples.context(i).thread);
    const Process& process = profile.process(thread.process);
    return fmt::format("{}({})/{}({})", process.pid, profile.text(process.name), thread.tid,
                       profile.text(thread.name));
  };
  EXPECT_EQ(name(0), "10(node)/12(worker)");
  EXPECT_EQ(name(1), "10(node)/10(perf-exec)");
  EXPECT_EQ(name(2), "10(node)/10(node)");
  EXPECT_EQ(name(3), "20(helper)/21(helper)");
  EXPECT_EQ(name(4), "20(helper)/22(other)");
  EXPECT_EQ(name(5), "0()/30(alone)");
}

TEST(PerfScript, DropsNoSample) {
  // A header without frames, a last sample without an empty line, a sample of one line with fields of a
  // tracepoint.
  const Profile profile = read(
      "node 1 1.5: 1 cycles:\n\nnode 1 2.5: 1 sched:sched_switch: prev=a\nnode 1 3.5: 1 cycles:  7f f+0x1 "
      "(/x)\n"
      "node 1 4.5: 1 cycles: 0\n\t 1 g (/x)\n\nnode 1 5.5: 1 cycles:\n\t 1 h (/x)");
  EXPECT_EQ(describe(profile),
            "1500000000 - 1 <node> cpu -1 cycles 1:\n"
            "2500000000 - 1 <node> cpu -1 sched:sched_switch 1:\n"
            "3500000000 - 1 <node> cpu -1 cycles 1: f@/x\n"
            "4500000000 - 1 <node> cpu -1 cycles 1: g@/x\n"
            "5500000000 - 1 <node> cpu -1 cycles 1: h@/x\n");
}

TEST(PerfScript, CountsLinesItDoesNotUnderstand) {
  const Profile profile = read("node 1 1.5: 1 cycles:\n\tnonsense\n\t 1 f (/x)\n\tnonsense\n\nbroken \n\n");
  EXPECT_EQ(profile.samples.size(), 1u);
  EXPECT_EQ(profile.diagnostics.count("line not understood"), 3u);
  EXPECT_EQ(profile.diagnostics.entries()[0].example, "\tnonsense");
}

TEST(PerfScript, LeavesOutTheRestOfASampleThatWasCut) {
  const Profile profile = read("\t 1 f (/x)\n\t 2 g (/x)\n\nnode 1 1.5: 1 cycles:\n\t 1 h (/x)\n\n");
  EXPECT_EQ(to_text(profile), to_text(read("node 1 1.5: 1 cycles:\n\t 1 h (/x)\n\n")));
  EXPECT_EQ(profile.diagnostics.count("stack without the first line of its sample left out"), 1u);
  EXPECT_EQ(read("\t 1 f (/x)\n\n\t 2 g (/x)\n\n").samples.size(), 2u);  // stacks alone
}

TEST(PerfScript, TakesCarriageReturns) {
  std::string text = read_test_file("tests/golden/perf-script/header/input");
  const std::string expected = to_text(read(text));
  for (std::size_t i = 0; (i = text.find('\n', i)) != std::string::npos; i += 2) text.insert(i, "\r");
  EXPECT_EQ(to_text(read(text)), expected);
}

std::string many_samples() {
  std::string script = "# ========\n# hostname : web1\n\n";
  for (int i = 0; script.size() < 15'000'000; ++i) {
    const int kind = i % 97;
    script += fmt::format("V8 Worker {}/{} [{:03}] {}.{:06}: {} {}:\n", kind % 7, kind, kind % 3, i / 1000,
                          i % 1000, i, kind == 96 ? "page-faults" : "cycles");
    for (int frame = 0; frame < 10 + kind % 30; ++frame) {
      script += fmt::format("\t   ffff{} function/{}+0x{} (/usr/lib/{})\n", frame, (frame * i) % 1013, i % 7,
                            frame);
      if (kind == 77) script += "  source.c:12\n";
    }
    if (kind == 50) script += "\tnot understood\n";
    if (kind == 51) script += fmt::format("node 1 2.5: PERF_RECORD_LOST lost {}\n", i);
    script += kind == 40 ? "\n\n\n" : "\n";
  }
  return script;
}

// Not only the same samples: the same ids, so that nothing that is derived can differ.
TEST(PerfScript, IsTheSameWithSeveralThreads) {
  const std::string script = many_samples();
  const Profile one = read(script);
  EXPECT_NE(one.lost_samples, 0u);
  const std::string text = describe(one);
  for (const unsigned threads : {2u, 3u, 8u}) {
    const Profile several = read(script, threads);
    EXPECT_TRUE(describe(several) == text) << threads;
    EXPECT_EQ(several.diagnostics, one.diagnostics);
    EXPECT_EQ(several.facts, one.facts);
    ASSERT_EQ(several.strings.size(), one.strings.size());
    for (std::size_t i = 0; i < one.strings.size(); ++i) {
      ASSERT_EQ(several.strings[StringId{i}], one.strings[StringId{i}]);
    }
    ASSERT_EQ(several.stacks.size(), one.stacks.size());
    for (std::size_t i = 0; i < one.stacks.size(); ++i) {
      ASSERT_EQ(several.stacks.frame(StackId{i}), one.stacks.frame(StackId{i}));
      ASSERT_EQ(several.stacks.caller(StackId{i}), one.stacks.caller(StackId{i}));
    }
    EXPECT_EQ(several.events(), one.events());
    EXPECT_EQ(several.threads(), one.threads());
    EXPECT_EQ(several.processes(), one.processes());
  }
}

TEST(PerfScript, SurvivesAMillionFrames) {
  std::string script = "a0 1 2.5: 1 cycles:\n";
  for (int i = 0; i < 1'000'000; ++i) script += fmt::format("\t 1 f{} (/x)\n", i % 1000);
  const Profile profile = read(script + "\n");
  ASSERT_EQ(profile.samples.size(), 1u);
  EXPECT_EQ(profile.stacks.size(), 1'000'001u);
}

TEST(PerfScript, LeavesOutALineWithoutEnd) {
  std::string script = "a0 1 2.5: 1 cycles:\n\t 1 f (/x)\n\n";
  script += std::string((std::size_t{64} << 20) + 100'000, 'x') + "\n" + script;
  const Profile profile = read(script);
  EXPECT_EQ(profile.samples.size(), 2u);
  EXPECT_EQ(profile.diagnostics.count("line longer than 64 MB left out"), 1u);
}

TEST(PerfScript, EveryPrefixIsSafe) {
  for (const std::string name : {"header", "source-lines-cpp", "records", "one-line"}) {
    testing::read_every_prefix(kPerfScriptFormat,
                               read_test_file("tests/golden/perf-script/" + name + "/input"), 11);
  }
}

TEST(PerfScript, NothingInItIsAnError) {
  for (const std::string_view text : {"", "\n\n", "# comment\n", "some words\n", "{\"a\": 1}\n"}) {
    MemorySource source(text, "empty.txt");
    const auto profile = kPerfScriptFormat.read(source, {});
    ASSERT_FALSE(profile.has_value()) << text;
    EXPECT_NE(profile.error().message.find("empty.txt"), std::string::npos);
  }
}

TEST(PerfScript, IsRecognised) {
  const auto recognise = kPerfScriptFormat.recognise;
  EXPECT_TRUE(recognise("java 19983 cycles:\nffffffff8103d0ca native_write_msr_safe ([kernel.kallsyms])\n"));
  EXPECT_TRUE(recognise("node  4984   482.997627:     200040 cpu-clock:ppp: \n"));
  EXPECT_TRUE(recognise("node  5510   805.377639: \n\tffffffff82200309\n\t           3f0d1\n\n"));
  EXPECT_TRUE(recognise("# ========\n# captured on: x\n# cmdline : perf record\n"));
  EXPECT_FALSE(recognise(""));
  EXPECT_FALSE(recognise("main;a 1\nmain;b 2\n"));
  EXPECT_FALSE(recognise("node;JS:*fib /app/x.js:3:9_[j] 12\n"));
  EXPECT_FALSE(recognise("{\"nodes\": [\n1\n]}\n"));
  EXPECT_FALSE(recognise("# a comment\nsome words\n"));
}

}  // namespace
}  // namespace nodescope
