#include "formats/sentry/sentry.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "support/profiles.h"

namespace nodescope {
namespace {

using testing::read_as;
using testing::read_test_file;

std::string self_sums(const Profile& profile) {
  std::map<std::string, std::uint64_t> sums;
  for (std::size_t i = 0; i < profile.samples.size(); ++i) {
    const Frame& frame = profile.frames[profile.stacks.frame(profile.samples.stack(i))];
    sums[fmt::format("{} {}:{}", profile.text(frame.function), profile.text(frame.file), frame.line)] +=
        profile.samples.weight(i);
  }
  std::string text;
  for (const auto& [name, sum] : sums) text += fmt::format("{} {}\n", sum, name);
  return text;
}

TEST(Sentry, GoldenSums) {
  const std::string text = read_test_file("tests/golden/sentry/node20/input");
  ASSERT_TRUE(kSentryFormat.recognise(text));
  const Profile profile = read_as(kSentryFormat, text);
  EXPECT_EQ(self_sums(profile), read_test_file("tests/golden/sentry/node20/expected"));
  EXPECT_EQ(profile.event(EventId{}).unit, Unit::kNanoseconds);
  EXPECT_TRUE(profile.samples.is_sorted_by_time());
  testing::read_every_prefix(kSentryFormat, text, 3);
}

// As the SDK sends it: inside of an envelope's item, several threads, seconds since 1970.
TEST(Sentry, ReadsChunksOfSeveralThreads) {
  const Profile profile = read_as(
      kSentryFormat,
      R"({"version":"2","release":"shop@1.2","platform":"node","profile":{"frames":[{"function":"f","abs_path":"/a.js","lineno":3},)"
      R"-({"function":"<anonymous>","filename":"b.js","lineno":1,"colno":9},{"function":"(garbage collector)"}],)-"
      R"("stacks":[[1,0],[2],[7]],"samples":[{"stack_id":0,"thread_id":"0","timestamp":1700000000.5},)"
      R"({"stack_id":1,"thread_id":"0","timestamp":1700000000.75},{"stack_id":2,"thread_id":"3","timestamp":1700000000.6},)"
      R"({"stack_id":9,"thread_id":"3","timestamp":1700000000.7}],"thread_metadata":{"0":{"name":"main"},"3":{"name":"worker"}}}})");
  ASSERT_EQ(profile.samples.size(), 4u);
  EXPECT_EQ(profile.clock_offset_ns, 1'700'000'000'500'000'000);
  EXPECT_EQ(profile.samples.weight(0), 250'000'000u);
  EXPECT_EQ(profile.samples.weight(1), 250'000'000u);
  EXPECT_EQ(profile.text(profile.thread(profile.samples.context(2).thread).name), "worker");
  EXPECT_EQ(profile.frames[profile.stacks.frame(profile.samples.stack(1))].kind, FrameKind::kGc);
  const auto frames = profile.stacks.unwind(profile.samples.stack(0));
  EXPECT_EQ(profile.text(profile.frames[frames[0]].function), "f");
  EXPECT_EQ(profile.text(profile.frames[frames[1]].function), "");
  EXPECT_EQ(profile.frames[frames[1]].kind, FrameKind::kJs);
  EXPECT_EQ(profile.diagnostics.count("a frame does not exist: shown as unknown"), 1u);
  EXPECT_EQ(profile.diagnostics.count("a sample's stack does not exist: shown without one"), 1u);
  EXPECT_EQ(profile.facts.at("release"), "shop@1.2");
}

TEST(Sentry, NothingToReadIsAnError) {
  EXPECT_FALSE(testing::try_read_as(kSentryFormat, R"({"frames":[],"stacks":[],"samples":[]})"));
  EXPECT_FALSE(kSentryFormat.recognise(R"({"nodes":[{"callFrame":{}}],"samples":[1]})"));
}

}  // namespace
}  // namespace nodescope
