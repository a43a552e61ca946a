#include "formats/otlp/otlp.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "formats/pprof/pprof.h"
#include "support/profiles.h"

namespace nodescope {
namespace {

using testing::read_as;
using testing::read_test_file;

std::string place_of(const Frame& frame) {
  return frame.line == 0 ? "" : fmt::format("@{}:{}", frame.function_line, frame.line);
}

// "0 4711/1 js:handle@0:3;js:busyLoop@0:12 10000000", outermost first.
std::string lines_of(const Profile& profile) {
  std::string text;
  for (std::size_t i = 0; i < profile.samples.size(); ++i) {
    const Sample sample = profile.samples[i];
    const Thread& thread = profile.thread(sample.context.thread);
    std::string stack;
    for (const FrameId id : profile.stacks.unwind(sample.stack)) {
      const Frame& frame = profile.frames[id];
      stack += fmt::format("{}{}:{}{}{}", stack.empty() ? "" : ";", to_string(frame.kind),
                           profile.text(frame.function), place_of(frame), frame.inlined ? " inlined" : "");
    }
    text += fmt::format("{} {}/{} {} {}\n", sample.time_ns, profile.process(thread.process).pid, thread.tid,
                        stack, sample.weight);
  }
  return text;
}

class Otlp : public ::testing::TestWithParam<std::string> {};

TEST_P(Otlp, ReadsWhatOpenTelemetrysOwnClassesWrite) {
  const std::string text = read_test_file("tests/golden/otlp/" + GetParam());
  EXPECT_TRUE(kOtlpFormat.recognise(text));
  EXPECT_TRUE(kOtlpFormat.recognise(std::string_view(text).substr(0, text.size() / 2)));
  EXPECT_FALSE(kPprofFormat.recognise(text));
  const Profile profile = read_as(kOtlpFormat, text);
  EXPECT_EQ(lines_of(profile),
            "0 4711/1 js:handle@0:3;js:busyLoop@0:12 10000000\n"
            "10000000 4711/1 js:handle@0:3;js:busyLoop@0:12 20000000\n"
            "30000000 4711/1 js:handle@0:3;js:busyLoop@12:14 inlined 5000000\n"
            "0 4711/7 native:uv__io_poll;kernel:do_syscall_64 1000000\n");
  EXPECT_EQ(profile.clock_offset_ns, 1'700'000'000'000'000'000);
  EXPECT_EQ(profile.facts.at("service"), "shop");
  EXPECT_EQ(profile.text(profile.event(EventId{}).name), "cpu");
  EXPECT_EQ(profile.event(EventId{}).unit, Unit::kNanoseconds);
  testing::read_every_prefix(kOtlpFormat, text);
}

INSTANTIATE_TEST_SUITE_P(Encodings, Otlp, ::testing::Values("protobuf", "json", "old"),
                         [](const auto& test) { return test.param; });

TEST(OtlpFormat, IsNotMistaken) {
  EXPECT_FALSE(kOtlpFormat.recognise(""));
  EXPECT_FALSE(kOtlpFormat.recognise("main;parse 3\n"));
  EXPECT_FALSE(kOtlpFormat.recognise("{\"nodes\":[]}"));
  EXPECT_FALSE(testing::try_read_as(kOtlpFormat, "{\"resourceProfiles\":[]}"));
}

}  // namespace
}  // namespace nodescope
