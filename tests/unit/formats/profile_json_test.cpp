#include "formats/profile_json/profile_json.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "support/profiles.h"

namespace nodescope {
namespace {

using testing::to_text;

Result<Profile> try_read(std::string_view text) {
  return testing::try_read_as(kProfileJsonFormat, text);
}
Profile read(std::string_view text) {
  return testing::read_as(kProfileJsonFormat, text);
}
std::string write(const Profile& profile) {
  return testing::write_as(kProfileJsonFormat, profile);
}

Profile everything() {
  Profile profile;
  const EventId cpu = profile.intern_event("cpu-clock", Unit::kNanoseconds);
  const EventId faults = profile.intern_event("page faults", Unit::kCount);
  const ProcessId process = profile.intern_process(41, "node \"x\"\n");
  const ThreadId thread = profile.intern_thread(process, 42, "wörker");
  Frame frame;
  frame.function = profile.strings.intern("f");
  frame.file = profile.strings.intern("/srv/app/a.js");
  frame.module = profile.strings.intern("/usr/bin/node");
  frame.line = 7;
  frame.column = std::numeric_limits<std::uint32_t>::max();
  frame.kind = FrameKind::kJs;
  frame.tier = JsTier::kBaseline;
  frame.inlined = true;
  frame.function_line = 3;
  frame.function_column = 19;
  const StackId outer = profile.stacks.push(kEmptyStack, profile.frames.intern(frame));
  const StackId inner = profile.stacks.push(outer, profile.frames.intern(Frame{}));
  profile.samples.add({-5, inner, {thread, 3, cpu}, std::numeric_limits<std::uint64_t>::max()});
  profile.samples.add(
      {std::numeric_limits<std::int64_t>::max(), outer, {ThreadId{}, kUnknownCpu, faults}, 0});
  profile.samples.add({std::numeric_limits<std::int64_t>::min(), kEmptyStack, {thread, 0, cpu}, 1});
  profile.markers.push_back({10, 20, thread, MarkerKind::kGc, profile.strings.intern("MinorGC")});
  profile.markers.push_back({11, 21, ThreadId{}, MarkerKind::kStall, profile.strings.intern("stall")});
  profile.markers.push_back({12, 22, thread, MarkerKind::kLost, profile.strings.intern("7 lost")});
  profile.mappings.push_back({process, 0x7f0000000000, 0xFFFFFFFFFFFFFFFF, 0x1000,
                              profile.strings.intern("/lib/x.so"), profile.strings.intern("abcdef")});
  profile.facts["command"] = "node \"a\".js";
  profile.facts["k\"ey"] = "";
  profile.lost_samples = 12;
  profile.clock_offset_ns = 1'700'000'000'000'000'000;
  profile.diagnostics.warn("something is odd", "line 3");
  profile.diagnostics.add(Severity::kError, "something is broken", "", 9);
  return profile;
}

TEST(ProfileJson, EverythingSurvives) {
  const Profile profile = everything();
  const std::string written = write(profile);
  const Profile again = read(written);
  EXPECT_EQ(to_text(again), to_text(profile));
  EXPECT_EQ(again.facts, profile.facts);
  EXPECT_EQ(again.diagnostics, profile.diagnostics);
  EXPECT_EQ(again.clock_offset_ns, profile.clock_offset_ns);
  EXPECT_EQ(again.markers, profile.markers);
  EXPECT_EQ(write(again), written);
  EXPECT_TRUE(kProfileJsonFormat.recognise(written));
  EXPECT_TRUE(kProfileJsonFormat.recognise(written.substr(0, 60)));
}

TEST(ProfileJson, IsWhatTheDocumentationSays) {
  const Profile profile = testing::profile_of("main;js:parse 3\nmain 1\n");
  EXPECT_EQ(write(profile),
            "{\"format\":\"nodescope-profile\",\"version\":1,\n"
            "\"facts\":{},\n"
            "\"clock_offset_ns\":0,\"lost_samples\":0,\n"
            "\"diagnostics\":[],\n"
            "\"events\":[\n{\"name\":\"samples\",\"unit\":\"samples\"}],\n"
            "\"processes\":[\n{\"pid\":0,\"name\":\"\"}],\n"
            "\"threads\":[\n{\"process\":0,\"tid\":0,\"name\":\"\"}],\n"
            "\"frames\":[\n{\"function\":\"main\",\"kind\":\"native\"},\n{\"function\":\"parse\",\"kind\":"
            "\"js\"}],\n"
            "\"stacks\":{\n\"caller\":[null,0,1],\n\"frame\":[null,0,1]},\n"
            "\"samples\":{\n\"time_ns\":[0,0],\n\"stack\":[2,1],\n\"weight\":[3,1],\n\"thread\":[0,0],\n"
            "\"cpu\":[-1,-1],\n\"event\":[0,0]},\n"
            "\"markers\":[],\n"
            "\"mappings\":[]}\n");
}

TEST(ProfileJson, TablesMayComeInAnyOrder) {
  const Profile profile = read(
      R"({"samples":{"stack":[1],"weight":[5],"event":[0],"thread":[1],"time_ns":[7],"cpu":[2]},"stacks":{"frame":[null,0],"caller":[null,0]},)"
      R"("frames":[{"kind":"kernel","function":"read"}],"threads":[{},{"tid":9,"process":0}],"processes":[{"pid":4}],"events":[{"unit":"count","name":"e"}],)"
      R"("version":1,"format":"nodescope-profile"})");
  EXPECT_EQ(to_text(profile), "lost 0\nsample 7 4()/9() cpu 2 e count 5: read|:0:0||kernel|\n");
}

TEST(ProfileJson, EveryPrefixIsSafe) {
  testing::read_every_prefix(kProfileJsonFormat, write(everything()));
}

TEST(ProfileJson, DamageIsReported) {
  const Profile profile = read(
      R"({"format":"nodescope-profile","stacks":{"caller":[null,5,1],"frame":[null,7,0]},"frames":[{"function":"f"}],)"
      R"("samples":{"stack":[1,2,9,0],"weight":[1],"thread":[3],"event":[1]},"markers":[{"thread":8}],"mappings":[{"process":-1}]})");
  EXPECT_EQ(profile.samples.size(), 4u);
  EXPECT_GE(profile.diagnostics.count("an index is out of range: taken to be not known"), 6u);
  EXPECT_EQ(profile.diagnostics.count("the columns of the samples are not equally long"), 5u);
  EXPECT_EQ(profile.samples.weight(1), 1u);
}

TEST(ProfileJson, AnotherProgramOrANewerVersionIsAnError) {
  EXPECT_EQ(try_read("{\"format\":\"other\"}").error().message, "test.json: not a profile of nodescope");
  EXPECT_EQ(try_read("{\"format\":\"nodescope-profile\",\"version\":2}").error().code,
            ErrorCode::kUnsupported);
  EXPECT_FALSE(try_read("").has_value());
  EXPECT_FALSE(kProfileJsonFormat.recognise("{\"format\":\"other\"}"));
}

TEST(ProfileJson, AnEmptyProfileIsWritten) {
  EXPECT_EQ(to_text(read(write(Profile()))), "lost 0\n");
}

}  // namespace
}  // namespace nodescope
