#include "formats/speedscope/speedscope.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "formats/cpuprofile/cpuprofile.h"
#include "json/writer.h"
#include "support/profiles.h"

namespace nodescope {
namespace {

using testing::profile_of;
using testing::read_test_file;
using testing::to_text;

Result<Profile> try_read(std::string_view text) {
  return testing::try_read_as(kSpeedscopeFormat, text);
}
Profile read(std::string_view text) {
  return testing::read_as(kSpeedscopeFormat, text);
}
std::string write(const Profile& profile) {
  return testing::write_as(kSpeedscopeFormat, profile);
}

std::string quoted(std::string_view text) {
  StringSink sink;
  json::Writer writer(sink);
  writer.string(text);
  EXPECT_TRUE(writer.finish().has_value());
  return sink.text().substr(0, sink.text().size() - 1);
}

// Own and total weight of every frame, thread by thread, as the golden files have them from speedscope
// itself.
std::string frame_weights(const Profile& profile) {
  struct Weights {
    std::uint64_t self = 0;
    std::uint64_t total = 0;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, Weights> all;
  for (std::size_t i = 0; i < profile.samples.size(); ++i) {
    const std::uint32_t thread = profile.samples.context(i).thread.value;
    const auto frames = profile.stacks.unwind(profile.samples.stack(i));
    for (const FrameId frame : std::set<FrameId>(frames.begin(), frames.end())) {
      all[{thread, frame.value}].total += profile.samples.weight(i);
    }
    all[{thread, frames.back().value}].self += profile.samples.weight(i);
  }
  std::vector<std::string> lines;
  for (const auto& [key, weights] : all) {
    const Frame& frame = profile.frames[FrameId{key.second}];
    lines.push_back(fmt::format("{} {} {} {} {} {} {}\n",
                                quoted(profile.text(profile.thread(ThreadId{key.first}).name)), weights.self,
                                weights.total, quoted(profile.text(frame.function)),
                                quoted(profile.text(frame.file)), frame.line, frame.column));
  }
  std::ranges::sort(lines);
  return fmt::format("{}", fmt::join(lines, ""));
}

constexpr const char* kGoldenCases[] = {"evented", "sampled", "several"};

std::string golden(std::string_view name, std::string_view file) {
  return read_test_file(fmt::format("tests/golden/speedscope/{}/{}", name, file));
}

// The two kinds of profiles keep their stacks apart, whatever a file mixes.
TEST(Speedscope, EventsAndSamplesInOneProfile) {
  const Profile profile = read(
      "{\"shared\":{\"frames\":[{\"name\":\"a\"},{\"name\":\"b\"}]},\"profiles\":[{\"unit\":\"none\","
      "\"endValue\":3,"
      "\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":0},{\"type\":\"C\",\"frame\":0,\"at\":2}],"
      "\"samples\":[[0],[1],[1],[1]],\"weights\":[1,1,1,1]}]}");
  ASSERT_EQ(profile.samples.size(), 1u);
  EXPECT_EQ(profile.samples.weight(0), 2u);
  EXPECT_EQ(profile.diagnostics.count("a profile with events and samples: its samples are not read"), 1u);
}

TEST(Speedscope, GoldenWeights) {
  for (const char* name : kGoldenCases) {
    const Profile profile = read(golden(name, "input"));
    EXPECT_EQ(frame_weights(profile), golden(name, "expected")) << name;
    EXPECT_TRUE(profile.diagnostics.entries().empty()) << name;
  }
}

TEST(Speedscope, GoldenIsTheSameAfterWritingAndReading) {
  for (const char* name : kGoldenCases) {
    const Profile profile = read(golden(name, "input"));
    const std::string written = write(profile);
    EXPECT_EQ(to_text(read(written)), to_text(profile)) << name;
    EXPECT_EQ(write(read(written)), written) << name;
    EXPECT_TRUE(kSpeedscopeFormat.recognise(written)) << name;
  }
}

TEST(Speedscope, EveryPrefixIsSafe) {
  for (const char* name : kGoldenCases) testing::read_every_prefix(kSpeedscopeFormat, golden(name, "input"));
}

TEST(Speedscope, TimesOfSamplesAreTheWeightsBefore) {
  const Profile profile = read(golden("sampled", "input"));
  ASSERT_EQ(profile.samples.size(), 5u);  // the one without frames stands for time in which nothing ran
  EXPECT_EQ(profile.samples.time_ns(2), 20'000'000);
  EXPECT_EQ(profile.samples.time_ns(3), 70'000'000);
  EXPECT_EQ(profile.events()[0].unit, Unit::kNanoseconds);
}

TEST(Speedscope, TimesBeyondDoublesAreExact) {
  const Profile profile = read(golden("several", "input"));
  const std::size_t last = profile.samples.size() - 1;
  EXPECT_EQ(profile.samples.time_ns(last - 1), 1'700'000'000'000'000'001);
  EXPECT_EQ(profile.samples.time_ns(last), 1'700'000'000'000'000'051);
}

TEST(Speedscope, FramesAreWrittenAsTheyAre) {
  Profile profile;
  const EventId event = profile.intern_event("cpu", Unit::kNanoseconds);
  Frame frame;
  frame.function = profile.strings.intern("get \"x\" <a>;b");
  frame.file = profile.strings.intern("file:///srv/app/a b.js");
  frame.line = 3;
  frame.column = 14;
  frame.kind = FrameKind::kJs;
  frame.tier = JsTier::kMaglev;
  const StackId stack = profile.stacks.push(kEmptyStack, profile.frames.intern(frame));
  profile.samples.add({100, stack, {ThreadId{}, kUnknownCpu, event}, 7});
  EXPECT_EQ(
      write(profile),
      "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"nodescope\",\n"
      "\"shared\":{\"frames\":[\n"
      "{\"name\":\"get \\\"x\\\" <a>;b\",\"file\":\"file:///srv/app/a b.js\",\"line\":3,\"col\":14,"
      "\"nodescope\":{\"kind\":\"js\",\"tier\":\"maglev\"}}]},\n"
      "\"activeProfileIndex\":0,\n"
      "\"profiles\":[\n"
      "{\"type\":\"sampled\",\"name\":\"cpu\",\"unit\":\"nanoseconds\",\"startValue\":100,\"endValue\":107,"
      "\"nodescope\":{\"event\":\"cpu\",\"unit\":\"nanoseconds\",\"thread\":{\"pid\":0,\"process\":\"\","
      "\"tid\":0,\"name\":\"\"}},\n"
      "\"samples\":[[0]],\n"
      "\"weights\":[7]}]}\n");
}

// Threads, events, processors' samples that overlap, gaps, stacks without frames, every kind.
TEST(Speedscope, EverythingSurvives) {
  Profile profile;
  const EventId events[] = {profile.intern_event("cpu-clock", Unit::kNanoseconds),
                            profile.intern_event("cycles", Unit::kCount),
                            profile.intern_event("space", Unit::kBytes)};
  const ProcessId process = profile.intern_process(5, "node");
  const ThreadId threads[] = {ThreadId{}, profile.intern_thread(process, 5, "main"),
                              profile.intern_thread(process, 6, "worker")};
  std::vector<StackId> stacks = {kEmptyStack};
  for (int kind = 0; kind < static_cast<int>(kFrameKindCount); ++kind) {
    Frame frame;
    frame.kind = static_cast<FrameKind>(kind);
    stacks.push_back(profile.stacks.push(stacks.back(), profile.frames.intern(frame)));
    frame.function = profile.strings.intern(fmt::format("f{}", kind));
    frame.module = profile.strings.intern("libc.so");
    frame.inlined = kind % 2 == 0;
    stacks.push_back(profile.stacks.push(stacks.back(), profile.frames.intern(frame)));
  }
  for (std::size_t i = 0; i < 300; ++i) {
    const auto time_ns = static_cast<std::int64_t>(1'000'000 + i * 50 % 4000);
    profile.samples.add(
        {time_ns, stacks[i % stacks.size()], {threads[i % 3], kUnknownCpu, events[i / 3 % 3]}, i * 7 % 130});
  }
  EXPECT_EQ(to_text(read(write(profile))), to_text(profile));
}

TEST(Speedscope, FoldedStacksSurvive) {
  const Profile profile = profile_of("main;parse;read 3\nmain;kernel:read 1\njs:idle 2\n");
  EXPECT_EQ(to_text(read(write(profile))), to_text(profile));
}

TEST(Speedscope, ACpuProfileSurvives) {
  const std::string text = read_test_file("tests/golden/cpuprofile/node20/input");
  MemorySource source(text, "test.cpuprofile");
  const auto profile = kCpuProfileFormat.read(source, {});
  EXPECT_EQ(to_text(read(write(*profile))), to_text(*profile));
}

TEST(Speedscope, TheHeaviestThreadIsShownFirst) {
  Profile profile;
  const EventId event = profile.intern_event("cpu", Unit::kNanoseconds);
  profile.samples.add({0, kEmptyStack, {profile.intern_thread(ProcessId{}, 1, "a"), kUnknownCpu, event}, 5});
  profile.samples.add({0, kEmptyStack, {profile.intern_thread(ProcessId{}, 2, "b"), kUnknownCpu, event}, 9});
  EXPECT_NE(write(profile).find("\"activeProfileIndex\":1"), std::string::npos);
}

TEST(Speedscope, TheFirstEventStaysTheFirst) {
  Profile profile;
  const EventId clock = profile.intern_event("cpu-clock", Unit::kNanoseconds);
  const EventId faults = profile.intern_event("page-faults", Unit::kCount);
  profile.samples.add({0, kEmptyStack, {ThreadId{}, 0, faults}, 1});
  profile.samples.add({5, kEmptyStack, {ThreadId{}, 0, clock}, 1000});
  const Profile again = read(write(profile));
  ASSERT_EQ(again.events().size(), 2u);
  EXPECT_EQ(again.text(again.events()[0].name), "cpu-clock");
  EXPECT_EQ(again.events()[0].unit, Unit::kNanoseconds);
}

TEST(Speedscope, AnEmptyProfileIsWritten) {
  EXPECT_EQ(read(write(Profile())).samples.size(), 0u);
}

TEST(Speedscope, FramesOfOthers) {
  const Profile profile = read(
      R"({"profiles":[{"type":"sampled","unit":"none","samples":[[0,1,2,3,4,5]],"weights":[1]}],"shared":{"frames":[)"
      R"-({"name":"main"},{"name":"LazyCompile:*f /a.js:3:9"},{"name":"g","file":"/b.ts"},{"name":"(garbage collector)"},)-"
      R"({"name":"h","file":"x.py","line":7},{"name":""}]}})");
  std::string text;
  for (const FrameId id : profile.stacks.unwind(profile.samples.stack(0))) {
    const Frame& frame = profile.frames[id];
    text += fmt::format("{}|{}|{}|{} ", profile.text(frame.function), profile.text(frame.file), frame.line,
                        to_string(frame.kind));
  }
  EXPECT_EQ(
      text,
      "main||0|native f|/a.js|3|js g|/b.ts|0|js (garbage collector)||0|gc h|x.py|7|native ||0|unknown ");
}

TEST(Speedscope, DamageIsReported) {
  const Profile sampled = read(
      R"({"shared":{"frames":[{"name":"a"}]},"profiles":[{"type":"sampled","unit":"parsecs","samples":[[0,9],[-1],["x"],[0]],"weights":[1,-2,0.25]}]})");
  EXPECT_EQ(sampled.samples.size(), 3u);
  EXPECT_EQ(sampled.diagnostics.count("a unit is not known: weights count as samples"), 1u);
  EXPECT_EQ(sampled.diagnostics.count("a weight below zero counts as zero"), 1u);
  EXPECT_EQ(sampled.diagnostics.count("fractions of a weight are rounded"), 1u);
  EXPECT_EQ(sampled.diagnostics.count("samples without a weight, or weights without a sample, are not read"),
            1u);
  EXPECT_EQ(sampled.diagnostics.count("a frame does not exist: shown as unknown"), 2u);

  const Profile evented = read(
      R"({"shared":{"frames":[{"name":"a"},{"name":"b"}]},"profiles":[{"type":"evented","unit":"seconds","startValue":0,"endValue":9,"events":[)"
      R"({"type":"O","frame":0,"at":0},{"type":"O","frame":1,"at":1},{"type":"C","frame":0,"at":3},{"type":"C","frame":1,"at":4},)"
      R"({"type":"O","frame":0,"at":2},{"type":"?","frame":0,"at":5}]}]})");
  EXPECT_EQ(evented.diagnostics.count("a frame is closed before the frames inside of it"), 1u);
  EXPECT_EQ(evented.diagnostics.count("a frame is closed that is not open"), 1u);
  EXPECT_EQ(
      evented.diagnostics.count("an event is earlier than the one before: taken to be at the same time"), 1u);
  std::uint64_t weight = 0;
  for (std::size_t i = 0; i < evented.samples.size(); ++i) weight += evented.samples.weight(i);
  EXPECT_EQ(weight, 8'000'000'000u);
}

TEST(Speedscope, AMillionFramesDeep) {
  constexpr int kDepth = 1'000'000;
  std::string stack;
  std::string events;
  for (int i = 0; i < kDepth; ++i) {
    stack += i == 0 ? "0" : ",0";
    events += fmt::format("{}{{\"type\":\"O\",\"frame\":0,\"at\":{}}}", i == 0 ? "" : ",", i);
  }
  const Profile profile = read(fmt::format(
      R"({{"profiles":[{{"type":"sampled","unit":"none","samples":[[{}]],"weights":[1]}},{{"type":"evented","unit":"none","endValue":{},"events":[{}]}}],"shared":{{"frames":[{{"name":"f"}}]}}}})",
      stack, kDepth, events));
  EXPECT_EQ(profile.samples.size(), 1u + kDepth);
  EXPECT_EQ(profile.stacks.size(), 1u + kDepth);
}

TEST(Speedscope, NothingToReadIsAnError) {
  EXPECT_EQ(try_read("{}").error().message, "test.speedscope.json: a speedscope file without profiles");
  EXPECT_FALSE(try_read("").has_value());
  EXPECT_FALSE(try_read("{\"profiles\":5}").has_value());
}

TEST(Speedscope, Recognised) {
  for (const char* name : kGoldenCases)
    EXPECT_TRUE(kSpeedscopeFormat.recognise(golden(name, "input"))) << name;
  EXPECT_TRUE(kSpeedscopeFormat.recognise(R"({"shared":{"frames":[{"name":"a)"));
  for (const char* path : {"cpuprofile/node20", "heapprofile/node20", "trace-events/node20"}) {
    EXPECT_FALSE(kSpeedscopeFormat.recognise(read_test_file(fmt::format("tests/golden/{}/input", path))))
        << path;
  }
}

}  // namespace
}  // namespace nodescope
