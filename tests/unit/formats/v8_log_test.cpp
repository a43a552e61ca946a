#include "formats/v8_log/v8_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>

#include "formats/symbol_name.h"
#include "formats/v8_log/code_map.h"
#include "formats/v8_log/log_line.h"
#include "support/profiles.h"

namespace nodescope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::read_as;
using testing::read_test_file;
using testing::try_read_as;

using Counts = std::map<std::string, std::uint64_t>;

bool is_v8_code(const std::string& name) {
  return name.starts_with("Builtin:") || name.starts_with("BytecodeHandler:");
}

// node --prof-process counts builtins inside of the binary as the binary's, so both count as one here.
Counts with_builtins_in_libraries(const Counts& counts) {
  Counts merged;
  for (const auto& [name, count] : counts) merged[is_v8_code(name) ? "libraries" : name] += count;
  return merged;
}

// Where bytecode handlers are code of their own, --prof-process counts them as the function that they run.
Counts ticks_of(const Profile& profile, bool has_own_handlers) {
  Counts counts;
  for (std::size_t i = 0; i < profile.samples.size(); ++i) {
    StackId stack = profile.samples.stack(i);
    const auto name = [&] { return symbol_of_frame(profile, profile.frames[profile.stacks.frame(stack)]); };
    if (has_own_handlers && name().starts_with("BytecodeHandler:")) stack = profile.stacks.caller(stack);
    const Frame& frame = profile.frames[profile.stacks.frame(stack)];
    const bool unknown = frame.kind == FrameKind::kUnknown;
    const bool library = frame.kind == FrameKind::kNative;
    ++counts[unknown ? "unknown" : library ? "libraries" : symbol_of_frame(profile, frame)];
    const auto frames = profile.stacks.unwind(stack);
    const bool collects =
        std::ranges::any_of(frames, [&](FrameId id) { return profile.frames[id].kind == FrameKind::kGc; });
    if (collects) ++counts["collector"];
  }
  return counts;
}

class V8LogGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(V8LogGolden, HasTheTicksOfNodesOwnTickProcessor) {
  const std::string folder = "tests/golden/v8-log/" + GetParam() + "/";
  const std::string input = read_test_file(folder + "input");
  EXPECT_TRUE(kV8LogFormat.recognise(input));
  const Profile profile = read_as(kV8LogFormat, input);
  Counts expected;
  std::istringstream lines(read_test_file(folder + "expected"));
  std::uint64_t count = 0;
  for (std::string name; lines >> count && std::getline(lines >> std::ws, name);) expected[name] += count;
  EXPECT_EQ(with_builtins_in_libraries(ticks_of(profile, GetParam() == "node8")),
            with_builtins_in_libraries(expected));
  EXPECT_TRUE(profile.samples.is_sorted_by_time());
  testing::read_every_prefix(kV8LogFormat, input, 61);
}

INSTANTIATE_TEST_SUITE_P(Versions, V8LogGolden, ::testing::Values("node8", "node16", "node22", "node26"),
                         [](const auto& test) { return test.param; });

// Each sample as a line of names, outermost first.
std::string stacks_of(const Profile& profile) {
  std::string text;
  for (std::size_t i = 0; i < profile.samples.size(); ++i) {
    std::string line;
    for (const FrameId id : profile.stacks.unwind(profile.samples.stack(i))) {
      const Frame& frame = profile.frames[id];
      const std::string name = symbol_of_frame(profile, frame);
      line += (line.empty() ? "" : ";") + (name == "[unknown]" && frame.module != StringId{}
                                               ? "[" + std::string(profile.text(frame.module)) + "]"
                                               : name);
    }
    text += line + "\n";
  }
  return text;
}

TEST(V8Log, FollowsCodeThatMovesAndIsReplaced) {
  const Profile profile = read_as(kV8LogFormat,
                                  "v8-version,12,4,254,21,-node.57,0\n"
                                  "shared-library,/opt/node,0x400000,0x500000,0\n"
                                  "profiler,begin,1000\n"
                                  "code-creation,JS,10,1,0x1000,256,f /a.js:1:2,0x28,~\n"
                                  "tick,0x1001,5,0,0x0,0\n"
                                  "code-move,0x1000,0x3000\n"
                                  "tick,0x3001,6,0,0x0,0,0x3010\n"
                                  "tick,0x1001,7,0,0x0,0\n"
                                  "code-creation,JS,10,1,0x3010,8,g /a.js:3:1,0x28,*\n"
                                  "tick,0x3012,8,0,0x0,0\n"
                                  "tick,0x3001,9,0,0x0,0\n");
  EXPECT_EQ(stacks_of(profile),
            "JS:~f /a.js:1:2\n"
            "JS:~f /a.js:1:2;JS:~f /a.js:1:2\n"
            "[unknown]\n"
            "JS:*g /a.js:3:1\n"
            "[unknown]\n");
  EXPECT_EQ(profile.facts.at("v8"), "12.4.254.21-node.57");
  EXPECT_EQ(profile.facts.at("period"), "1,000 µs");
  EXPECT_EQ(profile.samples.time_ns(0), 5000);
}

TEST(V8Log, SaysWhatV8ItselfDid) {
  const std::string code =
      "shared-library,/opt/node,0x400000,0x500000,0\n"
      "code-creation,JS,10,1,0x1000,256,f /a.js:1:2,0x28,\n";
  EXPECT_EQ(stacks_of(read_as(kV8LogFormat, "v8-version,12,4,1,1,,0\n" + code +
                                                "tick,0x400010,5,0,0x0,1,0x1010\n"
                                                "tick,0x400010,5,0,0x0,4,0x1010\n"
                                                "tick,0x400010,5,1,0x400020,6,0x1010\n"
                                                "tick,0x600000,5,1,0x400020,6,0x1010\n"
                                                "tick,0x400010,5,0,0x1004,5\n")),
            "JS:f /a.js:1:2;(garbage collector);[/opt/node]\n"
            "JS:f /a.js:1:2;(compiler);[/opt/node]\n"
            "JS:f /a.js:1:2;[/opt/node]\n"
            "JS:f /a.js:1:2;[/opt/node];[unknown]\n"
            "JS:f /a.js:1:2;[/opt/node]\n");
  EXPECT_EQ(
      stacks_of(read_as(kV8LogFormat, "v8-version,6,2,1,1,0\n" + code + "tick,0x400010,5,0,0x0,2,0x1010\n" +
                                          "tick,0x400010,5,0,0x0,4,0x1010\n")),
      "JS:f /a.js:1:2;(compiler);[/opt/node]\n"
      "JS:f /a.js:1:2;[/opt/node]\n");
}

TEST(V8Log, NeedsTicks) {
  const auto profile = try_read_as(kV8LogFormat, "v8-version,12,4,254,21,-node.57,0\n");
  ASSERT_FALSE(profile);
  EXPECT_THAT(profile.error().message, HasSubstr("without ticks: node --prof writes them"));
}

TEST(V8Log, CountsWhatItDoesNotUnderstand) {
  const Profile profile = read_as(kV8LogFormat,
                                  "v8-version,12,4,254,21,,0\n"
                                  "tick,0x1,2,0,0x0,0,zz,overflow,0x10\n"
                                  "tick,nothing\n"
                                  "code-creation,JS\n"
                                  "code-move,1\n"
                                  "some-new-event,1,2\n");
  EXPECT_EQ(profile.samples.size(), 1u);
  EXPECT_EQ(profile.diagnostics.count("line not understood"), 3u);
  EXPECT_EQ(profile.diagnostics.count("frame of a tick not understood"), 1u);
  EXPECT_EQ(profile.diagnostics.count("stacks deeper than V8 logs are cut"), 1u);
}

TEST(LogLine, UndoesEscapesOfAllVersions) {
  v8_log::LogLine line;
  line.parse(R"(code-creation,RegExp,3,(\\w+)\x2C\n\u00e4\/,"quoted")");
  EXPECT_EQ(line.size(), 5u);
  EXPECT_EQ(line.text(3), "(\\w+),\nä\\/");
  EXPECT_EQ(line.text(4), "quoted");
  EXPECT_EQ(line.text(9), "");
  line.parse(R"("a,b",0x1f,-1)");
  EXPECT_EQ(line.text(0), "a,b");
  EXPECT_EQ(line.number(1), 0x1fu);
  EXPECT_EQ(line.number(2), std::nullopt);
  line.parse("");
  EXPECT_EQ(line.size(), 1u);
}

TEST(CodeMap, NewCodeReplacesAllThatItOverlaps) {
  v8_log::CodeMap codes;
  codes.add(100, 50, FrameId{1});
  codes.add(200, 50, FrameId{2});
  codes.add(300, 50, FrameId{3});
  codes.add(149, 60, FrameId{4});
  EXPECT_EQ(codes.find(100), std::nullopt);
  EXPECT_EQ(codes.find(149), FrameId{4});
  EXPECT_EQ(codes.find(208), FrameId{4});
  EXPECT_EQ(codes.find(209), std::nullopt);
  EXPECT_EQ(codes.find(349), FrameId{3});
  codes.add(UINT64_MAX - 1, 50, FrameId{5});
  EXPECT_EQ(codes.find(UINT64_MAX), std::nullopt);
  EXPECT_FALSE(codes.move(1, 2));
}

TEST(V8Ticks, AreTheSameAsJson) {
  const std::string text = read_test_file("fuzz/corpus/v8_ticks/small");
  EXPECT_TRUE(kV8TicksFormat.recognise(text));
  const Profile profile = read_as(kV8TicksFormat, text);
  EXPECT_EQ(stacks_of(profile),
            "[unknown];JS:*f /a.js:1:2;JS:*f /a.js:1:2\n"
            "JS:*f /a.js:1:2;(garbage collector);v8::internal::Scavenger::Process()\n"
            "[/opt/node]\n");
  EXPECT_EQ(profile.samples.time_ns(2), 7000);
  testing::read_every_prefix(kV8TicksFormat, text);
}

}  // namespace
}  // namespace nodescope
