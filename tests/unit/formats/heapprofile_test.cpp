#include "formats/heapprofile/heapprofile.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/profiles.h"

namespace nodescope {
namespace {

using testing::read_test_file;
using testing::to_text;

Result<Profile> try_read(std::string_view text) {
  return testing::try_read_as(kHeapProfileFormat, text);
}
Profile read(std::string_view text) {
  return testing::read_as(kHeapProfileFormat, text);
}
std::string write(const Profile& profile) {
  return testing::write_as(kHeapProfileFormat, profile);
}

// As stacks.mjs of the golden folder prints them.
std::string stack_sizes(const Profile& profile) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < profile.samples.size(); ++i) {
    std::string line = fmt::format("{} ", profile.samples.weight(i));
    for (const FrameId id : profile.stacks.unwind(profile.samples.stack(i))) {
      const Frame& frame = profile.frames[id];
      line += fmt::format("{}{}@{}:{}:{}", line.ends_with(' ') ? "" : " ", profile.text(frame.function),
                          profile.text(frame.file), frame.line, frame.column);
    }
    lines.push_back(line + "\n");
  }
  std::ranges::sort(lines);
  return fmt::format("{}", fmt::join(lines, ""));
}

const std::string& golden() {
  static const std::string text = read_test_file("tests/golden/heapprofile/node20/input");
  return text;
}

TEST(HeapProfile, GoldenSizes) {
  const Profile profile = read(golden());
  EXPECT_EQ(stack_sizes(profile), read_test_file("tests/golden/heapprofile/node20/expected"));
  EXPECT_EQ(profile.text(profile.events()[0].name), "space");
  EXPECT_EQ(profile.events()[0].unit, Unit::kBytes);
  EXPECT_TRUE(profile.diagnostics.entries().empty());
}

TEST(HeapProfile, GoldenIsTheSameAfterWritingAndReading) {
  const Profile profile = read(golden());
  const std::string written = write(profile);
  EXPECT_EQ(to_text(read(written)), to_text(profile));
  EXPECT_EQ(write(read(written)), written);
  EXPECT_TRUE(kHeapProfileFormat.recognise(written));
}

TEST(HeapProfile, EveryPrefixIsSafe) {
  testing::read_every_prefix(kHeapProfileFormat, golden());
}

TEST(HeapProfile, NamesOfTheVirtualMachine) {
  const auto kind = [](std::string_view name) {
    const Profile profile = read(fmt::format(
        R"-({{"head":{{"callFrame":{{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1}},"selfSize":0,"children":[)-"
        R"-({{"callFrame":{{"functionName":"{}","scriptId":"0","url":"","lineNumber":-1}},"selfSize":9,"children":[]}}]}}}})-",
        name));
    return profile.frames[profile.stacks.frame(profile.samples.stack(0))].kind;
  };
  EXPECT_EQ(kind("(GC)"), FrameKind::kGc);
  EXPECT_EQ(kind("(V8 API)"), FrameKind::kNative);
  EXPECT_EQ(kind("(BYTECODE_COMPILER)"), FrameKind::kNative);
  EXPECT_EQ(kind("(JS)"), FrameKind::kJs);
  EXPECT_EQ(kind("(IDLE)"), FrameKind::kUnknown);
}

TEST(HeapProfile, StacksThatComeTwiceAreOne) {
  const Profile profile = read(
      R"({"samples":[{"size":1,"nodeId":2,"ordinal":1}],"head":{"children":[)"
      R"({"callFrame":{"functionName":"f","scriptId":"1","url":"a.js"},"children":[],"selfSize":5},)"
      R"({"callFrame":{"functionName":"f","scriptId":"2","url":"a.js"},"selfSize":7.0,"children":[]}],"selfSize":3}})");
  ASSERT_EQ(profile.samples.size(), 2u);
  EXPECT_EQ(profile.samples.weight(1), 12u);
  EXPECT_EQ(to_text(read(write(profile))), to_text(profile));
}

TEST(HeapProfile, AMillionFramesDeep) {
  constexpr int kDepth = 1'000'000;
  std::string text = R"({"head":)";
  for (int i = 0; i < kDepth; ++i) text += R"({"callFrame":{"functionName":"f"},"selfSize":1,"children":[)";
  for (int i = 0; i < kDepth; ++i) text += "]}";
  const Profile profile = read(text + "}");
  EXPECT_EQ(profile.samples.size(), std::size_t{kDepth});
  EXPECT_EQ(profile.diagnostics.entries().size(), 0u);
  EXPECT_EQ(read(write(profile)).samples.size(), std::size_t{kDepth});
  EXPECT_EQ(read(text).samples.size(), std::size_t{kDepth});
}

TEST(HeapProfile, NothingToReadIsAnError) {
  EXPECT_EQ(try_read("{}").error().message, "test.heapprofile: a heap profile without a head");
  EXPECT_FALSE(try_read("").has_value());
  EXPECT_FALSE(try_read("{\"samples\":[").has_value());
}

TEST(HeapProfile, Recognised) {
  EXPECT_TRUE(kHeapProfileFormat.recognise(golden()));
  EXPECT_TRUE(kHeapProfileFormat.recognise(std::string_view(golden()).substr(0, 60)));
  EXPECT_TRUE(kHeapProfileFormat.recognise(" {\"samples\":[{\"size\":5,\"nodeId\":7"));
  EXPECT_FALSE(kHeapProfileFormat.recognise("{\"head\":{\"functionName\":\"(root)\""));
  for (const char* path :
       {"cpuprofile/node20", "cpuprofile/older-tree", "trace-events/node20", "speedscope/sampled"}) {
    EXPECT_FALSE(kHeapProfileFormat.recognise(read_test_file(fmt::format("tests/golden/{}/input", path))))
        << path;
  }
}

TEST(HeapProfile, MayBeInsideOfTheProtocolsReply) {
  const std::string plain =
      R"({"head":{"callFrame":{"functionName":"f","scriptId":"1","url":"a.js"},"selfSize":64}})";
  const std::string text = R"({"id":3,"result":{"profile":)" + plain + "}}";
  EXPECT_TRUE(kHeapProfileFormat.recognise(text));
  const Profile profile = testing::read_as(kHeapProfileFormat, text);
  ASSERT_EQ(profile.samples.size(), 1u);
  EXPECT_EQ(profile.samples.weight(0), 64u);
}

TEST(HeapProfile, WritesTheEventInBytes) {
  Profile profile;
  const EventId count = profile.intern_event("objects", Unit::kCount);
  const EventId space = profile.intern_event("inuse", Unit::kBytes);
  Frame frame;
  frame.function = profile.strings.intern("f");
  frame.kind = FrameKind::kKernel;
  const StackId stack = profile.stacks.push(kEmptyStack, profile.frames.intern(frame));
  profile.samples.add({0, stack, {ThreadId{}, kUnknownCpu, count}, 1});
  profile.samples.add({0, stack, {ThreadId{}, kUnknownCpu, space}, 100});
  profile.samples.add({0, stack, {ThreadId{}, kUnknownCpu, space}, 20});
  const Profile again = read(write(profile));
  ASSERT_EQ(again.samples.size(), 1u);
  EXPECT_EQ(again.samples.weight(0), 120u);
  EXPECT_EQ(again.frames[again.stacks.frame(again.samples.stack(0))].kind, FrameKind::kKernel);
  EXPECT_EQ(read(write(Profile())).samples.size(), 0u);
}

TEST(HeapProfile, WritesNothingButBytes) {
  StringSink sink;
  const auto written = kHeapProfileFormat.write(testing::profile_of("main;parse 3"), {}, sink);
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("nothing in this profile does"), std::string::npos);
  EXPECT_EQ(sink.text(), "");
}

}  // namespace
}  // namespace nodescope
