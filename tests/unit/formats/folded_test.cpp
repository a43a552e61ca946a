#include "formats/folded/folded.h"

#include <gtest/gtest.h>

#include <string>

#include "formats/symbol_name.h"
#include "support/profiles.h"

namespace nodescope {
namespace {

using testing::read_test_file;
using testing::to_text;

Profile read(std::string_view text) {
  MemorySource source(text, "test.folded");
  auto profile = kFoldedFormat.read(source, {});
  EXPECT_TRUE(profile.has_value());
  return std::move(*profile);
}

std::string write(const Profile& profile, const WriteOptions& options = {}) {
  StringSink sink;
  EXPECT_TRUE(kFoldedFormat.write(profile, options, sink).has_value());
  return sink.text();
}

std::vector<std::string> names(const Profile& profile, std::size_t sample) {
  std::vector<std::string> all;
  for (const FrameId frame : profile.stacks.unwind(profile.samples.stack(sample))) {
    all.push_back(symbol_of_frame(profile, profile.frames[frame]));
  }
  return all;
}

using Names = std::vector<std::string>;

TEST(Folded, ReadsStacksOutermostFirst) {
  const Profile profile = read("main;parse;read 3\nmain;idle 1\n");
  ASSERT_EQ(profile.samples.size(), 2u);
  EXPECT_EQ(names(profile, 0), (Names{"main", "parse", "read"}));
  EXPECT_EQ(names(profile, 1), (Names{"main", "idle"}));
  EXPECT_EQ(profile.samples.weight(0), 3u);
  EXPECT_EQ(profile.samples.weight(1), 1u);
  ASSERT_EQ(profile.events().size(), 1u);
  EXPECT_EQ(profile.text(profile.events()[0].name), "samples");
  EXPECT_EQ(profile.events()[0].unit, Unit::kSamples);
  EXPECT_TRUE(profile.diagnostics.entries().empty());
}

// Sorted lines are read by what they share with the line before.
TEST(Folded, SharedPrefixesAreNotMistakenForSharedFrames) {
  const Profile profile = read("a;bc;d 1\na;b 2\na;bc 3\na;bc;de 4\na 5\nab;c 6\n");
  EXPECT_EQ(names(profile, 0), (Names{"a", "bc", "d"}));
  EXPECT_EQ(names(profile, 1), (Names{"a", "b"}));
  EXPECT_EQ(names(profile, 2), (Names{"a", "bc"}));
  EXPECT_EQ(names(profile, 3), (Names{"a", "bc", "de"}));
  EXPECT_EQ(names(profile, 4), (Names{"a"}));
  EXPECT_EQ(names(profile, 5), (Names{"ab", "c"}));
}

TEST(Folded, ReadsTwoCountsAsTwoEvents) {
  const Profile profile = read("main;a 3 5\nmain;b 0 7\n");
  ASSERT_EQ(profile.events().size(), 2u);
  EXPECT_EQ(profile.text(profile.events()[0].name), "before");
  EXPECT_EQ(profile.text(profile.events()[1].name), "after");
  ASSERT_EQ(profile.samples.size(), 4u);
  EXPECT_EQ(profile.samples.weight(0), 3u);
  EXPECT_EQ(profile.samples.context(0).event.index(), 0u);
  EXPECT_EQ(profile.samples.weight(1), 5u);
  EXPECT_EQ(profile.samples.context(1).event.index(), 1u);
  EXPECT_EQ(profile.samples.stack(0), profile.samples.stack(1));
  EXPECT_EQ(write(profile), "main;a 3 5\nmain;b 0 7\n");
}

// A number at the end of a name is not a count if other lines have one count only.
TEST(Folded, KeepsNumbersThatBelongToNames) {
  const Profile profile = read("pool;Worker 2 15\npool;idle 1\n");
  EXPECT_EQ(profile.events().size(), 1u);
  EXPECT_EQ(names(profile, 0), (Names{"pool", "Worker 2"}));
  EXPECT_EQ(profile.samples.weight(0), 15u);
}

TEST(Folded, OneCountAmongPairsIsTheSecond) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "main;function_" + std::to_string(i) + " 1 2\n";
  const Profile profile = read(text + "main;new 7\n");
  const std::size_t last = profile.samples.size() - 1;
  EXPECT_EQ(profile.samples.weight(last), 7u);
  EXPECT_EQ(profile.samples.context(last).event.index(), 1u);
  EXPECT_EQ(profile.diagnostics.count("line with one count instead of two taken as \"after\""), 1u);
}

TEST(Folded, RoundsFractionsAndSaysSo) {
  const Profile profile = read("a 1.4\na 2.5\na 3.0\na 4.\n");
  EXPECT_EQ(profile.samples.weight(0), 1u);
  EXPECT_EQ(profile.samples.weight(1), 3u);
  EXPECT_EQ(profile.samples.weight(2), 3u);
  EXPECT_EQ(profile.samples.weight(3), 4u);
  EXPECT_EQ(profile.diagnostics.count("count with a fraction rounded"), 2u);
}

TEST(Folded, ClipsHugeCountsAndSaysSo) {
  const Profile profile =
      read("a 18446744073709551615\na 18446744073709551616\na 99999999999999999999999999.9\n");
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(profile.samples.weight(i), UINT64_MAX);
  EXPECT_EQ(profile.diagnostics.count("count larger than 2^64 clipped"), 2u);
  EXPECT_EQ(write(profile), "a 18446744073709551615\n");
}

TEST(Folded, TakesALineWithoutACountAsOne) {
  const Profile profile = read("main;a 2\nmain;b\nmain;c x\nmain;d 1.2.3\n");
  ASSERT_EQ(profile.samples.size(), 4u);
  EXPECT_EQ(names(profile, 1), (Names{"main", "b"}));
  EXPECT_EQ(names(profile, 2), (Names{"main", "c x"}));
  EXPECT_EQ(profile.samples.weight(1), 1u);
  EXPECT_EQ(profile.diagnostics.count("line without a count taken as 1"), 3u);
  EXPECT_EQ(profile.diagnostics.entries()[0].example, "line 2: main;b");
}

TEST(Folded, SkipsCommentsAndBlankLinesAndTakesCarriageReturns) {
  const Profile profile =
      read("# written by a tool\r\n\r\n#\nmain;a 2\r\n   \n#handler;b 3\r\n#!x\nmain;c 4");
  ASSERT_EQ(profile.samples.size(), 3u);
  EXPECT_EQ(names(profile, 0), (Names{"main", "a"}));
  EXPECT_EQ(names(profile, 1), (Names{"#handler", "b"}));
  EXPECT_EQ(names(profile, 2), (Names{"main", "c"}));
  EXPECT_EQ(profile.samples.weight(2), 4u);
}

TEST(Folded, ReadsMarksBehindNames) {
  const Profile profile = read(
      "node;JS:*fib "
      "/app/x.js:3:9_[j];Builtin:ArrayMap_[j];Ljava/lang/String;::x_[j];read_[k];bar_[i];woken_[w] 1\n");
  const auto stack = profile.stacks.unwind(profile.samples.stack(0));
  ASSERT_EQ(stack.size(), 8u);
  const auto frame = [&](std::size_t i) { return profile.frames[stack[i]]; };
  EXPECT_EQ(frame(0).kind, FrameKind::kUnknown);
  EXPECT_EQ(frame(1).kind, FrameKind::kJs);
  EXPECT_EQ(frame(1).tier, JsTier::kTurbofan);
  EXPECT_EQ(frame(1).line, 3u);
  EXPECT_EQ(profile.text(frame(1).file), "/app/x.js");
  EXPECT_EQ(frame(2).kind, FrameKind::kBuiltin);
  EXPECT_EQ(frame(4).kind, FrameKind::kUnknown);
  EXPECT_EQ(profile.text(frame(4).function), "::x");
  EXPECT_EQ(frame(5).kind, FrameKind::kKernel);
  EXPECT_EQ(profile.text(frame(5).function), "read");
  EXPECT_TRUE(frame(6).inlined);
  EXPECT_EQ(profile.text(frame(6).function), "bar");
  EXPECT_EQ(profile.text(frame(7).function), "woken_[w]");
}

TEST(Folded, WritesWhatItRead) {
  const std::string text =
      "node;JS:*fib /app/x.js:3:9_[j];Builtin:ArrayMap_[j];read_[k];bar_[i] 12\n"
      "node;Java::call_[j] 1\n"
      "node;RegExp:^\\/api\\/(\\w+)_[j];[unknown] 3\n"
      "node;VisitNode<(Phase)0>;woken_[w] 2\n";
  const Profile profile = read(text);
  EXPECT_EQ(write(profile), text);
  EXPECT_EQ(to_text(read(write(profile))), to_text(profile));
  EXPECT_EQ(write(profile, {.mark_kernel = false, .mark_jit = false}),
            "node;JS:*fib /app/x.js:3:9;Builtin:ArrayMap;read;bar_[i] 12\n"
            "node;Java::call 1\n"
            "node;RegExp:^\\/api\\/(\\w+);[unknown] 3\n"
            "node;VisitNode<(Phase)0>;woken_[w] 2\n");
}

TEST(Folded, MarksWhatItIsAskedFor) {
  const Profile profile = read("node;JS:*fib /app/x.js:3:9_[j];Builtin:ArrayMap_[j];read_[k];bar_[i] 12\n");
  EXPECT_EQ(write(profile, {.mark_jit = false}),
            "node;JS:*fib /app/x.js:3:9;Builtin:ArrayMap;read_[k];bar_[i] 12\n");
  EXPECT_EQ(write(profile, {.mark_kernel = false}),
            "node;JS:*fib /app/x.js:3:9_[j];Builtin:ArrayMap_[j];read;bar_[i] 12\n");
}

TEST(Folded, NamesProcessesAndThreads) {
  Profile profile;
  const EventId event = profile.intern_event("cpu-clock", Unit::kNanoseconds);
  Frame main_frame;
  main_frame.function = profile.strings.intern("main");
  const StackId stack = profile.stacks.push(kEmptyStack, profile.frames.intern(main_frame));
  const ProcessId node = profile.intern_process(4711, "node");
  const auto add = [&](ThreadId thread) { profile.samples.add({0, stack, {thread, kUnknownCpu, event}, 1}); };
  add(profile.intern_thread(node, 4711, "node"));
  add(profile.intern_thread(node, 4712, "V8 Worker;x"));
  add(profile.intern_thread(node, 4713, ""));
  add(profile.intern_thread(ProcessId{}, 99, "lonely"));
  add(profile.intern_thread(profile.intern_process(0, "swapper"), 0, "swapper"));
  add(ThreadId{});
  EXPECT_EQ(write(profile), "V8_Worker:x;main 1\nlonely;main 1\nmain 1\nnode;main 2\nswapper;main 1\n");
  EXPECT_EQ(write(profile, {.thread_label = ThreadLabel::kNamePid}),
            "V8_Worker:x-4711;main 1\nlonely-?;main 1\nmain 1\nnode-4711;main 2\nswapper-0;main 1\n");
  EXPECT_EQ(write(profile, {.thread_label = ThreadLabel::kNamePidTid}),
            "V8_Worker:x-4711/4712;main 1\nlonely-?/99;main 1\nmain 1\nnode-4711/4711;main 1\n"
            "node-4711/4713;main 1\nswapper-0/0;main 1\n");
}

// The order is that of the lines' bytes up to the count, where ';' is more than ' ' and less than letters.
TEST(Folded, WritesInByteOrder) {
  const std::string sorted = "a 1\na b;x 2\na!;x 3\na;b 4\na;b c 5\na;b;c 6\na;bc 7\na<;x 8\na\xC3\xA9 9\n";
  EXPECT_EQ(write(read("a\xC3\xA9 9\na<;x 8\na;bc 7\na;b;c 6\na;b c 5\na;b 4\na!;x 3\na b;x 2\na 1\n")),
            sorted);
}

TEST(Folded, AddsUpEqualStacks) {
  EXPECT_EQ(write(read("a;b 1\na;c 2\na;b 39\n")), "a;b 40\na;c 2\n");
}

TEST(Folded, WritesTheThreadFirstAndUnknownFramesByTheirModule) {
  Profile profile;
  const EventId event = profile.intern_event("cycles", Unit::kCount);
  const EventId other = profile.intern_event("instructions", Unit::kCount);
  const ThreadId thread = profile.intern_thread(profile.intern_process(1, "node"), 2, "V8 Worker;1");
  const ThreadId unnamed = profile.intern_thread(profile.intern_process(1, "node"), 3, "");
  StackId stack = kEmptyStack;
  for (const auto& [symbol, module] :
       std::vector<std::pair<std::string_view, std::string_view>>{{"[unknown]", "/usr/lib/libc.so.6"},
                                                                  {"[unknown]", ""},
                                                                  {"a;b\nc", "/usr/bin/node"},
                                                                  {"Builtins_ArrayMap", "/usr/bin/node"},
                                                                  {"Builtin:ArrayMap", "/tmp/perf-12.map"},
                                                                  {"do_syscall_64", "[kernel.kallsyms]"}}) {
    stack = profile.stacks.push(stack, profile.frames.intern(frame_of_symbol(profile, symbol, module)));
  }
  profile.samples.add({0, stack, {thread, 0, event}, 5});
  profile.samples.add({1, stack, {thread, 1, event}, 6});
  profile.samples.add({2, stack, {thread, 1, other}, 100});
  profile.samples.add({3, kEmptyStack, {unnamed, 1, event}, 7});
  EXPECT_EQ(
      write(profile),
      "V8_Worker:1;[libc.so.6];[unknown];a:b c;Builtin:ArrayMap;Builtin:ArrayMap_[j];do_syscall_64_[k] 11\n"
      "node 7\n");
}

TEST(Folded, DifferentFramesOfOneNameAreOneLine) {
  Profile profile;
  const EventId event = profile.intern_event("cycles", Unit::kCount);
  for (const std::string_view module : {"/lib/a.so", "/lib/b.so"}) {
    const FrameId outer = profile.frames.intern(frame_of_symbol(profile, "outer", module));
    const FrameId inner = profile.frames.intern(frame_of_symbol(profile, "inner", module));
    profile.samples.add(
        {0, profile.stacks.push(profile.stacks.push(kEmptyStack, outer), inner), {ThreadId{}, 0, event}, 2});
  }
  EXPECT_EQ(write(profile), "outer;inner 4\n");
}

TEST(Folded, EmptyFramesAndStacks) {
  const Profile profile = read("a;;b 1\n 12\n;a 3\na; 4\n");
  EXPECT_EQ(names(profile, 0), (Names{"a", "[unknown]", "b"}));
  EXPECT_EQ(names(profile, 1), Names{});
  EXPECT_EQ(names(profile, 2), (Names{"[unknown]", "a"}));
  EXPECT_EQ(names(profile, 3), (Names{"a"}));
  EXPECT_EQ(to_text(read(write(profile))), to_text(profile));
}

TEST(Folded, SurvivesAMillionFramesInALine) {
  std::string text;
  for (int i = 0; i < 1'000'000; ++i) text += "f" + std::to_string(i % 1000) + ";";
  text += "leaf 3\n";
  const Profile profile = read(text + text);
  EXPECT_EQ(profile.stacks.size(), 1'000'002u);
  EXPECT_EQ(profile.samples.size(), 2u);
  EXPECT_EQ(profile.samples.stack(0), profile.samples.stack(1));
  const std::string written = write(profile);
  EXPECT_EQ(written.size(), text.size());
}

TEST(Folded, LeavesOutALineWithoutEnd) {
  const std::string text = "a;b 1\n" + std::string((std::size_t{64} << 20) + 100'000, 'x') + "\na;c 2\n";
  const Profile profile = read(text);
  EXPECT_EQ(profile.samples.size(), 2u);
  EXPECT_EQ(profile.diagnostics.count("line longer than 64 MB left out"), 1u);
}

TEST(Folded, WritesWhatItCanReadBack) {
  Profile profile = read("a\xFF\xC3;b\x80 1\n");
  Frame frame;
  frame.function = profile.strings.intern(std::string_view("c\0d", 3));
  const StackId stack = profile.stacks.push(kEmptyStack, profile.frames.intern(frame));
  profile.samples.add({0, stack, {ThreadId{}, kUnknownCpu, EventId{}}, 2});
  const std::string text = write(profile);
  EXPECT_EQ(text, "a\xFF\xC3;b\x80 1\nc d 2\n");
  EXPECT_TRUE(kFoldedFormat.recognise(text));
  EXPECT_EQ(write(read(text)), text);
}

// As seconds or shares, of which rounding would leave nothing.
TEST(Folded, CountsBelowOneAreThousandths) {
  const Profile profile = read("a;b 0.25\na;c 0.0004\na 12\na;d 1.5\n");
  ASSERT_EQ(profile.samples.size(), 4u);
  EXPECT_EQ(profile.samples.weight(0), 250u);
  EXPECT_EQ(profile.samples.weight(1), 0u);
  EXPECT_EQ(profile.samples.weight(2), 12'000u);
  EXPECT_EQ(profile.samples.weight(3), 1'500u);
  EXPECT_EQ(profile.text(profile.event(EventId{}).name), "thousandths");
  EXPECT_EQ(profile.event(EventId{}).unit, Unit::kCount);
}

TEST(Folded, NothingInItIsAnError) {
  for (const std::string_view text : {"", "\n\n", "# only a comment\n", "\r\n"}) {
    MemorySource source(text, "empty.folded");
    const auto profile = kFoldedFormat.read(source, {});
    ASSERT_FALSE(profile.has_value());
    EXPECT_NE(profile.error().message.find("empty.folded"), std::string::npos);
  }
}

TEST(Folded, EveryPrefixIsSafe) {
  testing::read_every_prefix(kFoldedFormat, read_test_file("tests/golden/folded/two-counts/input"));
  testing::read_every_prefix(kFoldedFormat, read_test_file("tests/golden/folded/recorded/input"), 7);
}

TEST(Folded, IsRecognised) {
  EXPECT_TRUE(kFoldedFormat.recognise("main;a 1\nmain;b 2\n"));
  EXPECT_TRUE(kFoldedFormat.recognise("main 1"));
  EXPECT_TRUE(kFoldedFormat.recognise("# x\n\nnode;JS:*fib /app/x.js:3:9_[j] 12\r\n"));
  EXPECT_TRUE(kFoldedFormat.recognise("main;a 3 5\nmain;b 0 7\n"));
  std::string deep;
  while (deep.size() < kHeadBytes) deep += "frame;";
  EXPECT_TRUE(kFoldedFormat.recognise(deep.substr(0, kHeadBytes)));
  EXPECT_FALSE(kFoldedFormat.recognise(""));
  EXPECT_FALSE(kFoldedFormat.recognise("{\"nodes\": []}\n"));
  EXPECT_FALSE(
      kFoldedFormat.recognise("node  4984   482.997627:     200040 cpu-clock:ppp: \n\t 153e0 f (/x)\n\n"));
  EXPECT_FALSE(kFoldedFormat.recognise(std::string_view("a;b 1\0\n", 7)));
  EXPECT_FALSE(kFoldedFormat.recognise("just some text\nof several lines\n"));
  EXPECT_FALSE(kFoldedFormat.recognise("main;a 1\nmain;b 2\nThis is a letter,\nnot a profile\n"));
  // Long JSON on one line, as other profilers export it.
  EXPECT_FALSE(kFoldedFormat.recognise("{\"version\":1,\"names\":[\"" + deep.substr(0, kHeadBytes)));
}

// The input is sorted as `LC_ALL=C sort` sorts it, so what is written again must be the same.
TEST(Folded, GoldenCases) {
  for (const std::string name : {"recorded", "two-counts", "byte-order"}) {
    const std::string folder = "tests/golden/folded/" + name;
    const Profile profile = read(read_test_file(folder + "/input"));
    EXPECT_EQ(write(profile), read_test_file(folder + "/expected")) << name;
    EXPECT_EQ(to_text(read(write(profile))), to_text(profile)) << name;
  }
}

}  // namespace
}  // namespace nodescope
