#include "formats/cpuprofile/cpuprofile.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "support/profiles.h"

namespace nodescope {
namespace {

using testing::profile_of;
using testing::read_test_file;
using testing::to_text;

Result<Profile> try_read(std::string_view text) {
  return testing::try_read_as(kCpuProfileFormat, text);
}
Profile read(std::string_view text) {
  return testing::read_as(kCpuProfileFormat, text);
}
std::string write(const Profile& profile) {
  return testing::write_as(kCpuProfileFormat, profile);
}

// As stacks.mjs of the golden folder prints them.
std::string stack_weights(const Profile& profile) {
  std::map<std::string, std::uint64_t> weights;
  for (std::size_t i = 0; i < profile.samples.size(); ++i) {
    std::string stack;
    for (const FrameId id : profile.stacks.unwind(profile.samples.stack(i))) {
      const Frame& frame = profile.frames[id];
      stack += fmt::format("{}{}@{}:{}:{}", stack.empty() ? "" : " ", profile.text(frame.function),
                           profile.text(frame.file), frame.line, frame.column);
    }
    weights[stack] += profile.samples.weight(i);
  }
  std::vector<std::string> lines;
  for (const auto& [stack, weight] : weights) lines.push_back(fmt::format("{} {}\n", weight, stack));
  std::ranges::sort(lines);
  return fmt::format("{}", fmt::join(lines, ""));
}

FrameKind kind_of(std::string_view call_frame) {
  const Profile profile = read(fmt::format(
      R"({{"nodes":[{{"id":1,"callFrame":{{{}}}}}],"samples":[1],"timeDeltas":[0],"startTime":0,"endTime":1}})",
      call_frame));
  return profile.frames[profile.stacks.frame(profile.samples.stack(0))].kind;
}

// A tree of three nodes, a sample for each; `tail` comes behind.
std::string three_nodes(std::string_view tail) {
  return std::string(
             R"-({"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":""},"children":[2]},)-"
             R"-({"id":2,"callFrame":{"functionName":"a","scriptId":"5","url":"a.js","lineNumber":0,"columnNumber":-1},"children":[3]},)-"
             R"-({"id":3,"callFrame":{"functionName":"b","scriptId":"5","url":"a.js","lineNumber":9,"columnNumber":4}}],)-") +
         std::string(tail) + "}";
}

constexpr const char* kGoldenCases[] = {"node16",     "node20",     "node26",
                                        "older-tree", "hit-counts", "out-of-order"};

std::string golden(std::string_view name, std::string_view file) {
  return read_test_file(fmt::format("tests/golden/cpuprofile/{}/{}", name, file));
}

TEST(CpuProfile, GoldenWeights) {
  for (const char* name : kGoldenCases)
    EXPECT_EQ(stack_weights(read(golden(name, "input"))), golden(name, "expected")) << name;
}

TEST(CpuProfile, GoldenIsTheSameAfterWritingAndReading) {
  for (const char* name : kGoldenCases) {
    const Profile profile = read(golden(name, "input"));
    const std::string written = write(profile);
    const Profile again = read(written);
    EXPECT_EQ(to_text(again), to_text(profile)) << name;
    EXPECT_FALSE(again.diagnostics.has(Severity::kInfo)) << name;
  }
}

TEST(CpuProfile, GoldenIsRecognised) {
  for (const char* name : kGoldenCases) {
    const std::string text = golden(name, "input");
    EXPECT_TRUE(kCpuProfileFormat.recognise(text)) << name;
    EXPECT_TRUE(kCpuProfileFormat.recognise(std::string_view(text).substr(0, 400))) << name;
    EXPECT_TRUE(kCpuProfileFormat.recognise(write(read(text)))) << name;
  }
}

TEST(CpuProfile, EveryPrefixIsSafe) {
  testing::read_every_prefix(kCpuProfileFormat, golden("older-tree", "input"));
  testing::read_every_prefix(kCpuProfileFormat, golden("out-of-order", "input"));
  testing::read_every_prefix(kCpuProfileFormat, golden("node26", "input"), 7);
}

TEST(CpuProfile, TimesAndWeights) {
  const Profile profile =
      read(three_nodes(R"("startTime":1000,"endTime":1100,"samples":[2,3,1],"timeDeltas":[10,20,30])"));
  ASSERT_EQ(profile.samples.size(), 3u);
  EXPECT_EQ(profile.samples.time_ns(0), 1'010'000);
  EXPECT_EQ(profile.samples.time_ns(1), 1'030'000);
  EXPECT_EQ(profile.samples.time_ns(2), 1'060'000);
  EXPECT_EQ(profile.samples.weight(0), 20'000u);
  EXPECT_EQ(profile.samples.weight(1), 30'000u);
  EXPECT_EQ(profile.samples.weight(2), 25'000u) << "the average, not up to endTime, as in DevTools";
  EXPECT_EQ(profile.samples.stack(2), kEmptyStack);
  EXPECT_EQ(profile.text(profile.events()[0].name), "cpu");
  EXPECT_EQ(profile.events()[0].unit, Unit::kNanoseconds);
  EXPECT_TRUE(profile.diagnostics.entries().empty());
}

// As v8-profiler of Node 0.10 writes it: selfSamplesCount, callUid, neither samples nor hitCount.
TEST(CpuProfile, SelfSamplesCountOfNode010IsTheWeight) {
  const std::string text =
      R"-({"typeId":"CPU","uid":1,"title":"t","head":{"functionName":"(root)","scriptId":0,"url":"","lineNumber":0,)-"
      R"-("totalTime":7,"selfTime":0,"totalSamplesCount":7,"selfSamplesCount":0,"callUid":1,"childrenCount":1,"children":[)-"
      R"-({"functionName":"a","scriptId":5,"url":"a.js","lineNumber":3,"totalTime":7,"selfTime":2,"totalSamplesCount":7,)-"
      R"-("selfSamplesCount":2,"callUid":2,"childrenCount":1,"children":[{"functionName":"b","scriptId":5,"url":"a.js",)-"
      R"-("lineNumber":9,"totalTime":5,"selfTime":5,"totalSamplesCount":5,"selfSamplesCount":5,"callUid":3,)-"
      R"-("childrenCount":0,"children":[]}]}]}})-";
  ASSERT_TRUE(kCpuProfileFormat.recognise(text));
  const Profile profile = read(text);
  EXPECT_EQ(stack_weights(profile), "2 a@a.js:3:0\n5 a@a.js:3:0 b@a.js:9:0\n");
  EXPECT_EQ(profile.events()[0].unit, Unit::kSamples);
}

TEST(CpuProfile, MayBeInsideOfTheProtocolsReply) {
  const std::string plain = three_nodes(R"("startTime":0,"endTime":9,"samples":[2,3],"timeDeltas":[1,2])");
  for (const char* wrapped : {R"({{"profile":{}}})", R"({{"id":3,"result":{{"profile":{}}}}})",
                              R"({{"result":{{"profile":{}}},"id":3}})"}) {
    const std::string text = fmt::format(fmt::runtime(wrapped), plain);
    EXPECT_TRUE(kCpuProfileFormat.recognise(text)) << wrapped;
    EXPECT_EQ(to_text(read(text)), to_text(read(plain))) << wrapped;
  }
  EXPECT_FALSE(
      kCpuProfileFormat.recognise(R"({"profile":{"profile":{"profile":{"nodes":[{"callFrame":{}}]}}}})"));
}

// A profile that was stopped hours after its last sample.
TEST(CpuProfile, TheLastSampleDoesNotLastUntilTheEnd) {
  const std::string members =
      R"("startTime":0,"endTime":9000000000,"samples":[2,3,2],"timeDeltas":[10,10,11])";
  EXPECT_EQ(read(three_nodes(members)).samples.weight(2), 10'500u);
  const std::string ours = members + R"(,"nodescope":{"event":"cpu"})";
  EXPECT_EQ(read(three_nodes(ours)).samples.weight(2), 8'999'999'969'000u) << "we write it so that it does";
}

TEST(CpuProfile, LinesCountFromOneAndMinusOneIsNone) {
  const Profile profile = read(three_nodes(R"("startTime":0,"endTime":1,"samples":[3],"timeDeltas":[0])"));
  const auto frames = profile.stacks.unwind(profile.samples.stack(0));
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(profile.frames[frames[0]].line, 1u);
  EXPECT_EQ(profile.frames[frames[0]].column, 0u);
  EXPECT_EQ(profile.frames[frames[1]].line, 10u);
  EXPECT_EQ(profile.frames[frames[1]].column, 5u);
}

TEST(CpuProfile, KindsOfFrames) {
  const auto without_script = [](std::string_view name) {
    return kind_of(fmt::format(R"("functionName":"{}","scriptId":"0","url":"")", name));
  };
  EXPECT_EQ(without_script("(program)"), FrameKind::kNative);
  EXPECT_EQ(without_script("(garbage collector)"), FrameKind::kGc);
  EXPECT_EQ(without_script("(idle)"), FrameKind::kUnknown);
  EXPECT_EQ(without_script("(unresolved function)"), FrameKind::kUnknown);
  EXPECT_EQ(without_script("writeUtf8String"), FrameKind::kNative);
  EXPECT_EQ(without_script(""), FrameKind::kNative);
  EXPECT_EQ(without_script("RegExp: ^a+$"), FrameKind::kRegExp);
  EXPECT_EQ(kind_of(R"("functionName":"","scriptId":"126","url":"")"), FrameKind::kJs);  // new Function()
  EXPECT_EQ(kind_of(R"("functionName":"f","scriptId":"8","url":"node:internal/timers")"), FrameKind::kJs);
  EXPECT_EQ(kind_of(R"("functionName":"f","url":"file:///a.js")"), FrameKind::kJs);
  EXPECT_EQ(kind_of(R"("functionName":"f")"), FrameKind::kJs);
  EXPECT_EQ(kind_of(R"("functionName":"wasm-function[0]","scriptId":"7","url":"wasm://wasm/2638bc8e")"),
            FrameKind::kWasm);
  EXPECT_EQ(kind_of(R"("functionName":"","scriptId":"140","url":"native array.js")"), FrameKind::kBuiltin);
  EXPECT_EQ(kind_of(R"("functionName":"f","url":"","scriptId":0,"codeType":"other")"), FrameKind::kNative);
}

TEST(CpuProfile, ARegularExpressionIsNamedByItsSource) {
  const Profile profile = read(golden("node20", "input"));
  bool found = false;
  for (std::size_t i = 0; i < profile.frames.size(); ++i) {
    const Frame& frame = profile.frames[FrameId{i}];
    if (frame.kind != FrameKind::kRegExp) continue;
    EXPECT_EQ(profile.text(frame.function), R"(^\/api\/v(\d+)\/(users|orders)\/([0-9a-f]+)$)");
    found = true;
  }
  EXPECT_TRUE(found);
}

TEST(CpuProfile, SamplesWithoutTimesWeighOne) {
  const Profile profile = read(three_nodes(R"("samples":[2,3,3])"));
  ASSERT_EQ(profile.samples.size(), 3u);
  EXPECT_EQ(profile.samples.weight(1), 1u);
  EXPECT_EQ(profile.events()[0].unit, Unit::kSamples);
}

TEST(CpuProfile, TimesThatDoNotFitTheSamplesAreReported) {
  const Profile fewer =
      read(three_nodes(R"("startTime":0,"endTime":50,"samples":[2,3,3],"timeDeltas":[10,20])"));
  ASSERT_EQ(fewer.samples.size(), 3u);
  EXPECT_EQ(fewer.samples.weight(0), 20'000u);
  EXPECT_EQ(fewer.samples.weight(1), 0u);
  EXPECT_EQ(fewer.samples.weight(2), 10'000u);
  EXPECT_EQ(fewer.diagnostics.count("samples without a time are taken to be as late as the last one"), 1u);
  const Profile more = read(three_nodes(R"("startTime":0,"samples":[2],"timeDeltas":[10,20,30])"));
  EXPECT_EQ(more.samples.size(), 1u);
  EXPECT_EQ(more.diagnostics.count("times without a sample are ignored"), 2u);
}

TEST(CpuProfile, DamagedTreesAreSurvived) {
  const auto tail = R"("startTime":0,"endTime":10,"samples":[1,2,3,4,99,null],"timeDeltas":[1,1,1,1,1,1]})";
  // 1 and 2 call each other, 3 calls itself and has a child that does not exist, 4 has two parents and comes
  // twice.
  const Profile profile = read(
      std::string(R"({"nodes":[{"id":1,"callFrame":{"functionName":"a"},"children":[2,4]},)") +
      R"({"id":2,"callFrame":{"functionName":"b"},"children":[1,4]},{"id":3,"callFrame":{"functionName":"c"},"children":[3,77]},)" +
      R"({"id":4,"callFrame":{"functionName":"d"}},{"id":4,"callFrame":{"functionName":"e"}},)" +
      R"({"id":5,"callFrame":{"functionName":"f"},"parent":78},{"id":-5},{"id":"x","callFrame":7},8,null],)" +
      tail);
  EXPECT_EQ(profile.samples.size(), 6u);
  EXPECT_EQ(profile.diagnostics.count("call tree: a node is its own caller"), 2u);
  EXPECT_EQ(profile.diagnostics.count("call tree: a child does not exist"), 1u);
  EXPECT_EQ(profile.diagnostics.count("call tree: a node has two parents, the first counts"), 1u);
  EXPECT_EQ(profile.diagnostics.count("call tree: a node id is used twice, samples count for the first"), 1u);
  EXPECT_EQ(profile.diagnostics.count("call tree: a parent does not exist"), 1u);
  EXPECT_EQ(profile.diagnostics.count("a sample's node does not exist: shown as unknown"), 2u);
  const StackId unknown = profile.samples.stack(4);
  EXPECT_EQ(profile.frames[profile.stacks.frame(unknown)], Frame{});
}

TEST(CpuProfile, IdsOfNodesMayBeFarApart) {
  for (const std::string id : {"2", "4294967294"}) {
    const Profile profile =
        read(R"({"nodes":[{"id":1,"callFrame":{"functionName":"a"},"children":[)" + id + R"(]},{"id":)" + id +
             R"(,"callFrame":{"functionName":"b"}},{"id":)" + id + R"(,"callFrame":{"functionName":"c"}}],)" +
             R"("startTime":0,"endTime":30,"samples":[1,)" + id + R"(,3],"timeDeltas":[10,10,10]})");
    ASSERT_EQ(profile.samples.size(), 3u);
    const auto frames = profile.stacks.unwind(profile.samples.stack(1));
    ASSERT_EQ(frames.size(), 2u);
    EXPECT_EQ(profile.text(profile.frames[frames[1]].function), "b");
    EXPECT_EQ(profile.diagnostics.count("call tree: a node id is used twice, samples count for the first"),
              1u);
    EXPECT_EQ(profile.diagnostics.count("a sample's node does not exist: shown as unknown"), 1u);
  }
}

TEST(CpuProfile, WhatCanBeReadOfACutFileIsShown) {
  const std::string whole =
      three_nodes(R"("startTime":0,"endTime":60,"samples":[2,3,1],"timeDeltas":[10,20,30])");
  const Profile profile = read(whole.substr(0, whole.size() - 4));
  EXPECT_EQ(profile.samples.size(), 3u);
  EXPECT_TRUE(profile.diagnostics.has(Severity::kError));
  EXPECT_EQ(profile.diagnostics.count("the file is cut off: what is missing is not shown"), 1u);
}

TEST(CpuProfile, NothingToReadIsAnError) {
  EXPECT_EQ(try_read("").error().message,
            "test.cpuprofile: the JSON text ends at byte 0 where a value should follow");
  EXPECT_EQ(try_read("{}").error().message, "test.cpuprofile: a CPU profile without nodes");
  EXPECT_EQ(try_read("{\"nodes\":[]}").error().message, "test.cpuprofile: a CPU profile without nodes");
  EXPECT_EQ(try_read("{\"nodes\" 1}").error().code, ErrorCode::kInvalidInput);
  EXPECT_FALSE(try_read("[1,2,3]").has_value());
  EXPECT_FALSE(try_read(std::string(1000, '\0')).has_value());
}

TEST(CpuProfile, AMillionFramesDeep) {
  constexpr int kDepth = 1'000'000;
  std::string list = R"({"startTime":0,"endTime":5,"samples":[1000000],"timeDeltas":[1],"nodes":[)";
  std::string tree = R"({"startTime":0,"endTime":5,"samples":[1000000],"timestamps":[1],"head":)";
  for (int i = 1; i <= kDepth; ++i) {
    fmt::format_to(std::back_inserter(list), R"({{"id":{},"callFrame":{{"functionName":"f"}}{}}}{})", i,
                   i < kDepth ? fmt::format(R"(,"children":[{}])", i + 1) : "", i < kDepth ? "," : "]}");
    fmt::format_to(std::back_inserter(tree), R"({{"functionName":"f","id":{},"children":[)", i);
  }
  for (int i = 1; i <= kDepth; ++i) tree += "]}";
  tree += "}";
  for (const std::string* text : {&list, &tree}) {
    const Profile profile = read(*text);
    ASSERT_EQ(profile.samples.size(), 1u);
    EXPECT_EQ(profile.stacks.size(), kDepth + 1u);
    EXPECT_EQ(profile.stacks.unwind(profile.samples.stack(0)).size(), std::size_t{kDepth});
    EXPECT_TRUE(profile.diagnostics.entries().empty());
    EXPECT_EQ(read(write(profile)).stacks.size(), kDepth + 1u);
  }
}

TEST(CpuProfile, HugeNumbersDoNotOverflow) {
  const Profile profile = read(three_nodes(
      R"("startTime":9e300,"endTime":-9e300,"samples":[2,3,2],"timeDeltas":[9223372036854775807,-9223372036854775808,1e999])"));
  EXPECT_EQ(profile.samples.size(), 3u);
  EXPECT_EQ(read(write(profile)).samples.size(), 3u);
}

TEST(CpuProfile, RecognisedWhateverComesFirst) {
  EXPECT_TRUE(kCpuProfileFormat.recognise("{\"samples\":[1,2,3,4,5"));
  EXPECT_TRUE(kCpuProfileFormat.recognise("\xEF\xBB\xBF\n {\"timeDeltas\" : [ 17, 4"));
  EXPECT_TRUE(kCpuProfileFormat.recognise("{\"title\":\"x\",\"head\":{\"callUID\":5"));
  EXPECT_TRUE(kCpuProfileFormat.recognise("{\"endTime\":5,\"nodes\":[{\"hitCount\":1"));
  EXPECT_TRUE(kCpuProfileFormat.recognise("{\"startTime\":5,\"nodes\":[]}"));
}

TEST(CpuProfile, OthersAreNotRecognised) {
  for (const char* path :
       {"heapprofile/node20", "trace-events/node20", "speedscope/sampled", "speedscope/evented"}) {
    EXPECT_FALSE(kCpuProfileFormat.recognise(read_test_file(fmt::format("tests/golden/{}/input", path))))
        << path;
  }
  EXPECT_FALSE(kCpuProfileFormat.recognise("{\"snapshot\":{\"meta\":{}},\"nodes\":[9,1,1"));
  EXPECT_FALSE(kCpuProfileFormat.recognise("nodes startTime samples"));
  EXPECT_FALSE(kCpuProfileFormat.recognise(""));
}

// ---------------------------------------------------------------- writing what is not V8's

TEST(CpuProfile, OtherKindsOfFramesSurvive) {
  Profile profile;
  const EventId event = profile.intern_event("cpu", Unit::kNanoseconds);
  std::int64_t time_ns = 1'000;
  for (int kind = 0; kind < static_cast<int>(kFrameKindCount); ++kind) {
    for (const char* name : {"", "f", "(root)", "(program)", "RegExp: x", "wasm-function[1]"}) {
      for (const char* file : {"", "/a.js", "wasm://x"}) {
        Frame frame;
        frame.function = profile.strings.intern(name);
        frame.file = profile.strings.intern(file);
        frame.kind = static_cast<FrameKind>(kind);
        frame.line = static_cast<std::uint32_t>(kind) * 3;
        const StackId outer = profile.stacks.push(kEmptyStack, profile.frames.intern(frame));
        frame.module = profile.strings.intern("/usr/bin/node");
        frame.tier = JsTier::kTurbofan;
        frame.inlined = true;
        frame.function_line = frame.line;
        frame.function_column = frame.line + 7;
        const StackId inner = profile.stacks.push(outer, profile.frames.intern(frame));
        profile.samples.add({time_ns, outer, {ThreadId{}, kUnknownCpu, event}, 10});
        profile.samples.add({time_ns + 10, inner, {ThreadId{}, kUnknownCpu, event}, 90});
        time_ns += 100;
      }
    }
  }
  EXPECT_EQ(to_text(read(write(profile))), to_text(profile));
}

TEST(CpuProfile, TimeInWhichNothingRanSurvives) {
  Profile profile = profile_of("");
  const EventId event = profile.intern_event("cpu", Unit::kNanoseconds);
  Profile timed;
  const EventId cpu = timed.intern_event("cpu", Unit::kNanoseconds);
  Frame frame;
  frame.function = timed.strings.intern("f");
  frame.kind = FrameKind::kJs;
  const StackId stack = timed.stacks.push(kEmptyStack, timed.frames.intern(frame));
  timed.samples.add({5'000'000'123, stack, {ThreadId{}, kUnknownCpu, cpu}, 1'000});
  timed.samples.add({5'000'009'000, kEmptyStack, {ThreadId{}, kUnknownCpu, cpu}, 1'000});
  timed.samples.add({5'000'020'000, stack, {ThreadId{}, kUnknownCpu, cpu}, 0});
  timed.samples.add({5'000'020'000, stack, {ThreadId{}, kUnknownCpu, cpu}, 1});
  EXPECT_EQ(to_text(read(write(timed))), to_text(timed));
  EXPECT_EQ(event.value, 1u);
}

TEST(CpuProfile, ThreadsAndOtherUnitsSurvive) {
  Profile profile;
  const EventId event = profile.intern_event("cycles:u", Unit::kCount);
  const ProcessId process = profile.intern_process(41, "node \"x\"");
  const ThreadId threads[] = {profile.intern_thread(process, 41, "main"),
                              profile.intern_thread(process, 42, ""), ThreadId{}};
  Frame frame;
  frame.function = profile.strings.intern("f");
  frame.kind = FrameKind::kNative;
  const StackId stack = profile.stacks.push(kEmptyStack, profile.frames.intern(frame));
  for (int i = 0; i < 6; ++i) {
    const StackId where = i % 2 == 0 ? stack : kEmptyStack;
    profile.samples.add({i * 1'000'000'000LL, where, {threads[i % 3], kUnknownCpu, event}, 123'456'789u + i});
  }
  EXPECT_EQ(to_text(read(write(profile))), to_text(profile));

  const Profile folded = profile_of("main;parse;read 3\nmain;kernel:read 1\njs:idle 2\n");
  EXPECT_EQ(to_text(read(write(folded))), to_text(folded));
  EXPECT_NE(write(folded).find("\"hitCount\":3"), std::string::npos);
}

TEST(CpuProfile, WeightsOfSamplesThatOverlapAreKept) {
  Profile profile;
  const EventId event = profile.intern_event("cpu", Unit::kNanoseconds);
  for (int i = 0; i < 10; ++i) {
    profile.samples.add({1'000 + i * 100, kEmptyStack, {ThreadId{}, kUnknownCpu, event}, 101});
  }
  const Profile again = read(write(profile));
  ASSERT_EQ(again.samples.size(), 10u);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(again.samples.weight(i), 101u);
    EXPECT_EQ(again.samples.time_ns(i), profile.samples.time_ns(i) + static_cast<std::int64_t>(i));
  }
}

TEST(CpuProfile, OnlyTheFirstEventIsWritten) {
  Profile profile;
  const EventId first = profile.intern_event("cpu", Unit::kNanoseconds);
  const EventId second = profile.intern_event("faults", Unit::kCount);
  profile.samples.add({1, kEmptyStack, {ThreadId{}, kUnknownCpu, first}, 5});
  profile.samples.add({2, kEmptyStack, {ThreadId{}, kUnknownCpu, second}, 7});
  const Profile again = read(write(profile));
  ASSERT_EQ(again.samples.size(), 1u);
  EXPECT_EQ(again.samples.weight(0), 5u);
}

TEST(CpuProfile, AnEmptyProfileIsWritten) {
  const Profile profile = read(write(Profile()));
  EXPECT_EQ(profile.samples.size(), 0u);
  EXPECT_TRUE(profile.diagnostics.entries().empty());
}

}  // namespace
}  // namespace nodescope
