#include "formats/pprof/pprof.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "analysis/function_table.h"
#include "formats/input.h"
#include "support/profiles.h"

namespace nodescope {
namespace {

using ::testing::HasSubstr;
using testing::profile_of;
using testing::read_test_file;
using testing::to_text;

Result<Profile> read(std::string_view file) {
  auto content = open_content(std::make_unique<MemorySource>(file, "test.pb.gz"));
  if (!content) return std::unexpected(content.error());
  return kPprofFormat.read(**content, {});
}

std::string write(const Profile& profile) {
  StringSink sink;
  EXPECT_TRUE(kPprofFormat.write(profile, {}, sink));
  return sink.text();
}

std::string decompressed(std::string_view file) {
  auto content = open_content(std::make_unique<MemorySource>(file, "test.pb.gz"));
  EXPECT_TRUE(content);
  std::string storage;
  const auto bytes = read_whole(**content, storage, 1 << 30);
  EXPECT_TRUE(bytes);
  return std::string(as_text(*bytes));
}

// Profiles of other tools: see how.txt beside each.
class PprofGolden : public ::testing::TestWithParam<std::string> {};

TEST_P(PprofGolden, ReadsWhatIsThere) {
  const std::string folder = "tests/golden/pprof/" + GetParam() + "/";
  const std::string file = read_test_file(folder + "input");
  const std::string content = decompressed(file);
  EXPECT_TRUE(kPprofFormat.recognise(std::string_view(content).substr(0, kHeadBytes)));
  const auto profile = read(file);
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(to_text(*profile), read_test_file(folder + "expected"));

  const auto again = read(write(*profile));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_text(*again), to_text(*profile));
  EXPECT_EQ(again->facts, profile->facts);
  EXPECT_EQ(again->clock_offset_ns, profile->clock_offset_ns);
  EXPECT_EQ(again->event(EventId{}), profile->event(EventId{}));
  EXPECT_EQ(write(*again), write(*profile));
  testing::read_every_prefix(kPprofFormat, content);
}

INSTANTIATE_TEST_SUITE_P(Files, PprofGolden, ::testing::Values("go_cpu", "go_heap", "node", "odd"),
                         [](const auto& test) { return test.param; });

// Executed lines of one function in several locations: what `go tool pprof` has for each function.
TEST(Pprof, AFunctionWithSeveralLinesIsOneRow) {
  const auto profile = read(read_test_file("tests/golden/pprof/node_lines/input"));
  ASSERT_TRUE(profile) << profile.error().message;
  const FunctionTable table = derive_function_table(*profile, {});
  std::istringstream lines(read_test_file("tests/golden/pprof/node_lines/top"));
  std::uint64_t self = 0;
  std::uint64_t total = 0;
  std::size_t functions = 0;
  for (std::string name; lines >> self >> total && std::getline(lines >> std::ws, name); ++functions) {
    const auto is_it = [&](const FunctionRow& row) { return row.parts.name == name; };
    ASSERT_EQ(std::ranges::count_if(table.rows, is_it), 1) << name;
    const FunctionRow& row = *std::ranges::find_if(table.rows, is_it);
    EXPECT_EQ(row.self, self) << name;
    EXPECT_EQ(row.total, total) << name;
    if (name == "Garbage Collection") EXPECT_EQ(row.kind, FrameKind::kGc);
    if (name == "busyLoop") EXPECT_EQ(row.kind, FrameKind::kJs);
  }
  EXPECT_GT(functions, 5u);
  const auto again = read(write(*profile));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_text(*again), to_text(*profile));
}

TEST(Pprof, SaysWhatItLeftOut) {
  const auto profile = read(read_test_file("tests/golden/pprof/odd/input"));
  ASSERT_TRUE(profile) << profile.error().message;
  const Diagnostics& diagnostics = profile->diagnostics;
  EXPECT_EQ(diagnostics.count("frames that name no location"), 1u);
  EXPECT_EQ(diagnostics.count("lines that name no function"), 1u);
  EXPECT_EQ(diagnostics.count("locations that name no mapping"), 1u);
  EXPECT_EQ(diagnostics.count("negative values are left out"), 1u);
  EXPECT_EQ(diagnostics.count("samples whose number of values is not that of the types"), 2u);
  EXPECT_EQ(diagnostics.count("ids that are used twice: the first counts"), 1u);
  EXPECT_EQ(diagnostics.count("units that are kept as plain counts"), 1u);
  EXPECT_EQ(profile->facts.at("comment"), "free text\nmore text");
  EXPECT_EQ(profile->facts.at("host"), "db-1");
  EXPECT_EQ(profile->facts.at("drop_frames"), "drop.*");
}

TEST(Pprof, KeepsClockDurationAndPeriod) {
  const auto profile = read(read_test_file("tests/golden/pprof/node/input"));
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->clock_offset_ns, 1'700'000'000'000'000'000);
  EXPECT_EQ(profile->facts.at("duration"), "60 s");
  EXPECT_EQ(profile->facts.at("period"), "10000000 nanoseconds of wall");
  EXPECT_EQ(profile->text(profile->event(EventId{}).name), "wall") << "the last type is the one to show";
  EXPECT_EQ(profile->diagnostics.count("labels that have no place in the model"), 3u) << "span id";
}

Frame make_frame(Profile& profile, std::string_view function, FrameKind kind, JsTier tier, bool inlined) {
  Frame frame;
  frame.function = profile.strings.intern(function);
  frame.kind = kind;
  frame.tier = tier;
  frame.inlined = inlined;
  return frame;
}

// Names that other kinds of frames have, with and without file, line and module.
std::vector<Frame> all_frames(Profile& profile) {
  std::vector<Frame> frames;
  for (const std::string_view function :
       {"", "fib", "JS:*fib /a.js:1:2", "[unknown]", "(anonymous)", "nodescope:gc", "Builtins_ArrayMap",
        "a;b (c) \"d\"", "v8::internal::Scavenger::Process()", "_ZN4node5StartEiPPc",
        "(garbage collector)"}) {
    for (std::size_t kind = 0; kind < kFrameKindCount; ++kind) {
      for (std::size_t tier = 0; tier < 5; ++tier) {
        Frame frame = make_frame(profile, function, static_cast<FrameKind>(kind), static_cast<JsTier>(tier),
                                 tier % 2 == 0);
        frames.push_back(frame);
        frame.file = profile.strings.intern(tier < 3 ? "/app/my server.js" : "src/a.cc");
        frame.line = static_cast<std::uint32_t>(tier);
        frame.column = static_cast<std::uint32_t>(kind % 3);
        frame.module = profile.strings.intern(kind % 2 == 0 ? "/usr/bin/node" : "[kernel.kallsyms]");
        frames.push_back(frame);
        if (frame.line == 0) continue;
        frame.function_line = 1;
        frame.function_column = static_cast<std::uint32_t>(25 * (tier % 2));
        frames.push_back(frame);
      }
    }
  }
  return frames;
}

TEST(Pprof, KeepsEveryKindOfFrame) {
  Profile profile;
  const EventId event = profile.intern_event("samples", Unit::kSamples);
  for (const Frame& frame : all_frames(profile)) {
    const FrameId id = profile.frames.intern(frame);
    const StackId alone = profile.stacks.push(kEmptyStack, id);
    const StackId below = profile.stacks.push(profile.stacks.push(kEmptyStack, FrameId{}), id);
    for (const StackId stack :
         {alone, below, profile.stacks.push(below, id), profile.stacks.push(alone, FrameId{})}) {
      const auto time = static_cast<std::int64_t>(profile.samples.size());
      profile.samples.add({time, stack, {ThreadId{}, kUnknownCpu, event}, 1});
    }
  }
  const auto again = read(write(profile));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_text(*again), to_text(profile));
}

TEST(Pprof, KeepsThreadsTimesAndEvents) {
  Profile profile;
  const EventId cpu = profile.intern_event("cpu-clock", Unit::kNanoseconds);
  const EventId faults = profile.intern_event("page-faults", Unit::kCount);
  const EventId samples = profile.intern_event("samples", Unit::kCount);
  const ProcessId node = profile.intern_process(4984, "node");
  const ThreadId main = profile.intern_thread(node, 4984, "node");
  const ThreadId worker = profile.intern_thread(profile.intern_process(7, ""), -2, "libuv worker");
  const StackId stack = profile.stacks.push(
      kEmptyStack, profile.frames.intern(make_frame(profile, "f", FrameKind::kNative, {}, false)));
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t time : {std::int64_t{0}, std::int64_t{-5}, std::int64_t{1'000}, most}) {
    profile.samples.add({time, stack, {main, 0, cpu}, 10});
    profile.samples.add({time, stack, {main, 0, faults}, 3});
    profile.samples.add({time, stack, {worker, 3, samples}, static_cast<std::uint64_t>(most)});
    profile.samples.add({time, kEmptyStack, {ThreadId{}, kUnknownCpu, cpu}, 1});
  }
  profile.mappings.push_back({ProcessId{}, 4096, 8192, 0, profile.strings.intern("/bin/a"), StringId{}});
  profile.facts = {{"command", "node: a.js: b"}, {"comment", "two\nlines"}, {"duration", "1.5 s"}};
  profile.lost_samples = 12;
  profile.clock_offset_ns = 1'600'000'000'000'000'000;
  const auto again = read(write(profile));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_text(*again), to_text(profile));
  EXPECT_EQ(again->facts, profile.facts);
  EXPECT_EQ(again->clock_offset_ns, profile.clock_offset_ns);
  EXPECT_EQ(again->text(again->event(EventId{}).name), "cpu-clock");
}

TEST(Pprof, AddsUpEqualSamplesWithoutTimes) {
  const auto again = read(write(profile_of("main;a 1\nmain;b 2\nmain;a 3")));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(to_text(*again), to_text(profile_of("main;a 4\nmain;b 2")));
}

TEST(Pprof, WritesInlinedFunctionsAsOneLocation) {
  Profile profile;
  const EventId event = profile.intern_event("samples", Unit::kSamples);
  StackId stack = kEmptyStack;
  for (const auto& [name, inlined] :
       {std::pair{"main", false}, {"outer", false}, {"middle", true}, {"leaf", true}}) {
    stack = profile.stacks.push(
        stack, profile.frames.intern(make_frame(profile, name, FrameKind::kNative, {}, inlined)));
  }
  profile.samples.add({0, stack, {ThreadId{}, kUnknownCpu, event}, 1});
  const std::string content = decompressed(write(profile));
  protozero::pbf_reader reader(content);
  int locations = 0;
  while (reader.next()) {
    if (reader.tag() == 4) ++locations;
    reader.skip();
  }
  EXPECT_EQ(locations, 2);
}

TEST(Pprof, ReplacesWhatIsNotUtf8) {
  const std::string content = decompressed(write(profile_of("ma\xFFin;b 1")));
  EXPECT_THAT(content, HasSubstr("ma\xEF\xBF\xBDin"));
}

TEST(Pprof, SurvivesAMillionFrames) {
  Profile profile;
  const EventId event = profile.intern_event("samples", Unit::kSamples);
  StackId stack = kEmptyStack;
  for (int i = 0; i < 1'000'000; ++i) {
    const Frame frame = make_frame(profile, fmt::format("f{}", i % 1000), FrameKind::kNative, {}, i % 3 == 0);
    stack = profile.stacks.push(stack, profile.frames.intern(frame));
  }
  profile.samples.add({0, stack, {ThreadId{}, kUnknownCpu, event}, 1});
  const auto again = read(write(profile));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->stacks.unwind(again->samples.stack(0)).size(), 1'000'000u);
}

// One location with a hundred thousand lines, named a hundred thousand times.
TEST(Pprof, DoesNotMultiplyWhatAFileClaims) {
  std::string content;
  protozero::pbf_writer profile(content);
  {
    protozero::pbf_writer location(profile, 4);
    location.add_uint64(1, 1);
    for (int i = 0; i < 100'000; ++i) location.add_message(4, "\x08\x01", 2);
  }
  for (int i = 0; i < 100'000; ++i) profile.add_message(2, "\x08\x01\x10\x01", 4);
  profile.add_message(5, "\x08\x01", 2);
  profile.add_string(6, "");
  const auto read_profile = read(content);
  ASSERT_TRUE(read_profile) << read_profile.error().message;
  EXPECT_LE(read_profile->stacks.size(), 1025u);
  EXPECT_GT(read_profile->diagnostics.count("frames beyond what the file can mean are left out"), 0u);
}

TEST(Pprof, RefusesWhatIsCutBeforeItsNames) {
  const std::string content = decompressed(read_test_file("tests/golden/pprof/go_cpu/input"));
  const auto profile = read(content.substr(0, 200));
  ASSERT_FALSE(profile);
  EXPECT_THAT(profile.error().message, HasSubstr("cut before its names"));
}

TEST(Pprof, ReadsACutGzipAsFarAsItGoes) {
  const std::string file = read_test_file("tests/golden/pprof/go_cpu/input");
  const auto profile = read(std::string_view(file).substr(0, file.size() - 20));
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_GT(profile->samples.size(), 0u);
  EXPECT_GT(profile->diagnostics.count("profile is cut or damaged: the rest is lost"), 0u);
}

TEST(Pprof, IsRecognisedByItsBytes) {
  EXPECT_TRUE(kPprofFormat.recognise(decompressed(write(profile_of("a;b 1")))));
  for (const std::string_view other :
       {"", "\n", "\n\n", "\n\nmain;a 1\n", "a;b 1\n", "{\"nodes\":[]}", "\"text\"", "* a list\n", "PERFILE2",
        "\x7F"
        "ELF\2\1\1",
        "node 4984 482.997627: 200040 cpu-clock:ppp: \n", "<svg>", "# ========\n"}) {
    EXPECT_FALSE(kPprofFormat.recognise(other)) << other;
  }
}

}  // namespace
}  // namespace nodescope
