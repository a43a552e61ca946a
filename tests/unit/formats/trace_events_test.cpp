#include "formats/trace_events/trace_events.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "support/profiles.h"

namespace nodescope {
namespace {

using testing::read_test_file;

Result<Profile> try_read(std::string_view text) {
  MemorySource source(text, "test.json");
  return kTraceEventsFormat.read(source, {});
}

Profile read(std::string_view text) {
  auto profile = try_read(text);
  EXPECT_TRUE(profile.has_value()) << profile.error().message;
  return profile ? std::move(*profile) : Profile();
}

std::string stack_text(const Profile& profile, StackId stack) {
  std::string text;
  for (const FrameId id : profile.stacks.unwind(stack)) {
    const Frame& frame = profile.frames[id];
    text += fmt::format("{}{}@{}:{}:{}", text.empty() ? "" : " ", profile.text(frame.function),
                        profile.text(frame.file), frame.line, frame.column);
  }
  return text;
}

// As stacks.mjs of the golden folder prints them.
std::string description(const Profile& profile) {
  std::map<std::pair<std::int32_t, std::string>, std::uint64_t> weights;
  for (std::size_t i = 0; i < profile.samples.size(); ++i) {
    const std::int32_t tid = profile.thread(profile.samples.context(i).thread).tid;
    weights[{tid, stack_text(profile, profile.samples.stack(i))}] += profile.samples.weight(i);
  }
  std::vector<std::string> lines;
  for (const auto& [key, weight] : weights) {
    lines.push_back(fmt::format("thread {} {} {}\n", key.first, weight, key.second));
  }
  for (const Marker& marker : profile.markers) {
    const std::string_view name = profile.text(marker.name);
    if (name != "MajorGC" && name != "MinorGC") continue;
    lines.push_back(fmt::format("gc {} thread {} at {} for {}\n", name, profile.thread(marker.thread).tid,
                                marker.time_ns, marker.duration_ns));
  }
  std::ranges::sort(lines);
  return fmt::format("{}", fmt::join(lines, ""));
}

std::string markers_text(const Profile& profile) {
  std::string text;
  for (const Marker& marker : profile.markers) {
    text += fmt::format("{} {}+{} {} {}\n", profile.text(marker.name), marker.time_ns, marker.duration_ns,
                        profile.thread(marker.thread).tid, marker.kind == MarkerKind::kGc ? "gc" : "other");
  }
  return text;
}

const std::string& golden() {
  static const std::string text = read_test_file("tests/golden/trace-events/node20/input");
  return text;
}

constexpr std::string_view kProfileEvent =
    R"({"args":{"data":{"startTime":1000}},"cat":"disabled-by-default-v8.cpu_profiler","id":"0x2","name":"Profile","ph":"P","pid":7,"tid":70,"ts":990})";
constexpr std::string_view kChunk =
    R"-({"pid":7,"tid":71,"ts":1100,"ph":"P","name":"ProfileChunk","id":"0x2","args":{"data":{"cpuProfile":{"nodes":[)-"
    R"-({"callFrame":{"functionName":"(root)","scriptId":0,"codeType":"other"},"id":1},)-"
    R"-({"callFrame":{"functionName":"f","url":"/a.js","scriptId":3,"lineNumber":4,"columnNumber":0,"codeType":"JS"},"id":2,"parent":1}],)-"
    R"-("samples":[2,2]},"lines":[5,6],"timeDeltas":[10,20]}}})-";
constexpr std::string_view kLastChunk =
    R"({"pid":7,"tid":71,"ts":1200,"ph":"P","name":"ProfileChunk","id":"0x2","args":{"data":{"cpuProfile":{"nodes":[)"
    R"({"callFrame":{"functionName":"g","scriptId":0,"codeType":"other"},"id":3,"parent":2}],"samples":[3,1]},"timeDeltas":[5,5],"endTime":1100}}})";

TEST(TraceEvents, Golden) {
  const Profile profile = read(golden());
  EXPECT_EQ(description(profile), read_test_file("tests/golden/trace-events/node20/expected"));
  EXPECT_EQ(profile.facts.at("node"), "20.20.2");
  const Thread& thread = profile.thread(profile.samples.context(0).thread);
  EXPECT_EQ(profile.text(thread.name), "JavaScriptMainThread");
  EXPECT_EQ(thread.tid, profile.process(thread.process).pid);
  EXPECT_TRUE(profile.diagnostics.entries().empty());
}

TEST(TraceEvents, EveryPrefixIsSafe) {
  testing::read_every_prefix(kTraceEventsFormat, golden(), 11);
}

TEST(TraceEvents, TheEndMayBeMissing) {
  const std::string_view whole = golden();
  const std::string bare(whole.substr(whole.find('[')));
  const std::string_view events = std::string_view(bare).substr(0, bare.rfind(']'));
  EXPECT_EQ(description(read(events)), description(read(golden())));
  EXPECT_EQ(description(read(std::string(events) + ",\n")), description(read(golden())));
  EXPECT_FALSE(read(events).diagnostics.has(Severity::kWarning));
  EXPECT_TRUE(read(events).diagnostics.has(Severity::kInfo));
  EXPECT_TRUE(read(events.substr(0, events.size() - 1)).diagnostics.has(Severity::kError));
}

TEST(TraceEvents, AProfileInChunks) {
  const Profile profile = read(fmt::format("[{},{},{}]", kProfileEvent, kChunk, kLastChunk));
  ASSERT_EQ(profile.samples.size(), 4u);
  const auto sample = [&](std::size_t i) {
    return fmt::format("{} {} {}", profile.samples.time_ns(i), profile.samples.weight(i),
                       stack_text(profile, profile.samples.stack(i)));
  };
  EXPECT_EQ(sample(0), "1010000 20000 f@/a.js:5:1");
  EXPECT_EQ(sample(1), "1030000 5000 f@/a.js:5:1");
  EXPECT_EQ(sample(2), "1035000 5000 f@/a.js:5:1 g@:0:0");
  EXPECT_EQ(sample(3), "1040000 10000 ");  // the average of the others
  EXPECT_EQ(profile.thread(profile.samples.context(0).thread).tid, 70);
  EXPECT_EQ(profile.frames[profile.stacks.frame(profile.samples.stack(0))].kind, FrameKind::kJs);
  EXPECT_EQ(profile.frames[profile.stacks.frame(profile.samples.stack(2))].kind, FrameKind::kNative);
}

TEST(TraceEvents, TheOrderOfEventsDoesNotMatter) {
  const Profile in_order = read(fmt::format("[{},{},{}]", kProfileEvent, kChunk, kLastChunk));
  const Profile reversed =
      read(fmt::format("{{\"traceEvents\":[{},{},{}]}}", kLastChunk, kChunk, kProfileEvent));
  EXPECT_EQ(testing::to_text(reversed), testing::to_text(in_order));
}

TEST(TraceEvents, ProfilesOfOtherProcessesAndIdsAreOtherThreads) {
  const auto moved = [](std::string_view event, std::string_view from, std::string_view to) {
    std::string text(event);
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  const Profile profile = read(fmt::format(
      "[{},{},{},{},{},{},{}]", kProfileEvent, kChunk,
      moved(kProfileEvent, "\"pid\":7,\"tid\":70", "\"pid\":8,\"tid\":80"),
      moved(kChunk, "\"pid\":7", "\"pid\":8"),
      moved(kProfileEvent, "0x2\",\"name\":\"Profile\",\"ph\":\"P\",\"pid\":7,\"tid\":70",
            "0x3\",\"name\":\"Profile\",\"ph\":\"P\",\"pid\":7,\"tid\":75"),
      moved(kChunk, "0x2", "0x3"),
      R"({"name":"process_name","ph":"M","pid":8,"tid":1,"args":{"name":"node"}},{"name":"thread_name","ph":"M","pid":8,"tid":80,"args":{"name":"main"}})"));
  EXPECT_EQ(profile.samples.size(), 6u);
  std::vector<std::int32_t> tids;
  for (std::size_t i = 0; i < profile.samples.size(); i += 2) {
    tids.push_back(profile.thread(profile.samples.context(i).thread).tid);
  }
  EXPECT_EQ(tids, (std::vector<std::int32_t>{70, 80, 75}));
  const Thread& named = profile.thread(profile.samples.context(2).thread);
  EXPECT_EQ(profile.text(named.name), "main");
  EXPECT_EQ(profile.text(profile.process(named.process).name), "node");
}

TEST(TraceEvents, AWholeProfileInOneEvent) {
  const Profile profile = read(
      R"-([{"cat":"x","ph":"I","ts":5,"pid":1,"tid":2,"name":"CpuProfile","args":{"data":{"cpuProfile":{"nodes":[)-"
      R"-({"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":""},"children":[2]},)-"
      R"-({"id":2,"callFrame":{"functionName":"f","scriptId":"4","url":"a.js","lineNumber":0}}],)-"
      R"-("startTime":100,"endTime":130,"samples":[2],"timeDeltas":[10]}}}}])-");
  ASSERT_EQ(profile.samples.size(), 1u);
  EXPECT_EQ(profile.samples.time_ns(0), 110'000);
  EXPECT_EQ(profile.samples.weight(0), 20'000u);
}

TEST(TraceEvents, CollectionsAreMarkersAndTheirPhasesAreNotCountedTwice) {
  const Profile profile = read(
      std::string("[") + std::string(kProfileEvent) + "," + std::string(kChunk) + "," +
      R"({"ph":"B","name":"MinorGC","ts":100,"pid":1,"tid":2},{"ph":"X","name":"V8.GCScavenger","ts":101,"dur":7,"pid":1,"tid":2},)"
      R"({"ph":"B","name":"other","ts":102,"pid":1,"tid":2},{"ph":"E","ts":103,"pid":1,"tid":2},)"
      R"({"ph":"E","name":"MinorGC","ts":110.5,"pid":1,"tid":2},{"ph":"X","name":"V8.GC_MC_BACKGROUND","ts":100,"dur":50,"pid":1,"tid":3},)"
      R"({"ph":"X","name":"RunTask","ts":0,"dur":1000,"pid":1,"tid":2},{"ph":"E","name":"MajorGC","ts":120,"pid":1,"tid":2},)"
      R"({"ph":"B","name":"MajorGC","ts":200,"pid":1,"tid":2}])");
  EXPECT_EQ(markers_text(profile),
            "MinorGC 100000+10500 2 gc\n"
            "V8.GCScavenger 101000+7000 2 other\n"
            "MajorGC 200000+800000 2 gc\n"
            "V8.GC_MC_BACKGROUND 100000+50000 3 gc\n");
  EXPECT_EQ(profile.diagnostics.count("a collection ends that did not begin within the trace"), 1u);
  EXPECT_EQ(profile.diagnostics.count("a collection was going on when the trace ended"), 1u);
}

TEST(TraceEvents, AMissingStartIsReported) {
  const Profile profile = read(fmt::format("[{}]", kChunk));
  EXPECT_EQ(profile.samples.time_ns(0), 1'110'000);
  EXPECT_TRUE(profile.diagnostics.has(Severity::kWarning));
}

TEST(TraceEvents, CollectionsAloneAreNoProfile) {
  const auto error = try_read(R"([{"ph":"X","name":"MinorGC","ts":1,"dur":2,"pid":1,"tid":2}])").error();
  EXPECT_NE(error.message.find("only pauses of the garbage collector"), std::string::npos);
  EXPECT_NE(error.message.find("createTracing"), std::string::npos);
}

TEST(TraceEvents, NothingToReadIsAnError) {
  const auto error =
      try_read(R"({"traceEvents":[{"ph":"X","name":"RunTask","ts":1,"dur":2,"pid":1,"tid":2}]})").error();
  EXPECT_NE(error.message.find("disabled-by-default-v8.cpu_profiler"), std::string::npos);
  EXPECT_FALSE(try_read("").has_value());
  EXPECT_FALSE(try_read("[").has_value());
  EXPECT_FALSE(try_read("[5,null,[]]").has_value());
  EXPECT_FALSE(try_read("{\"traceEvents\":5}").has_value());
}

TEST(TraceEvents, ArgumentsOfOtherEventsDoNotMatter) {
  const Profile profile = read(fmt::format(
      R"([{{"ph":"X","name":"a","args":5}},{{"ph":"X","name":"b","args":{{"name":7,"data":{{"startTime":"x","timeDeltas":3,"cpuProfile":[1]}}}}}},{},{}])",
      kProfileEvent, kChunk));
  EXPECT_EQ(profile.samples.size(), 2u);
  EXPECT_TRUE(profile.diagnostics.entries().empty());
}

TEST(TraceEvents, Recognised) {
  EXPECT_TRUE(kTraceEventsFormat.recognise(golden()));
  EXPECT_TRUE(kTraceEventsFormat.recognise(" [ {\"args\":{},\"ph\":\"M\""));
  EXPECT_TRUE(kTraceEventsFormat.recognise("{\"displayTimeUnit\":\"ms\",\"x\":{"));
  EXPECT_TRUE(kTraceEventsFormat.recognise(
      R"({"metadata":{"source":"DevTools","startTime":"2025-01-01","maps":{"a")"));
  for (const char* path : {"cpuprofile/node20", "heapprofile/node20", "speedscope/sampled"}) {
    EXPECT_FALSE(kTraceEventsFormat.recognise(read_test_file(fmt::format("tests/golden/{}/input", path))))
        << path;
  }
}

}  // namespace
}  // namespace nodescope
