#include "formats/hermes/hermes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "formats/format.h"
#include "support/profiles.h"

namespace nodescope {
namespace {

std::string lines_of(const Profile& profile) {
  std::string text;
  for (std::size_t i = 0; i < profile.samples.size(); ++i) {
    text += fmt::format("{}+{}", profile.samples.time_ns(i), profile.samples.weight(i));
    for (const FrameId id : profile.stacks.unwind(profile.samples.stack(i))) {
      const Frame& frame = profile.frames[id];
      text += fmt::format(" {}:{}@{}:{}", to_string(frame.kind), profile.text(frame.function),
                          profile.text(frame.file), frame.line);
    }
    text += "\n";
  }
  return text;
}

TEST(Hermes, ReadsSamplesByTheirFrames) {
  const std::string text = testing::read_test_file("fuzz/corpus/hermes/small");
  const auto profile = read_profile(std::make_unique<MemorySource>(text, "trace"), {});
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_EQ(profile->facts.at("format"), "hermes");
  EXPECT_EQ(lines_of(*profile),
            "1000000+250000 js:global@http://localhost:8081/index.bundle:1 "
            "js:render@http://localhost:8081/index.bundle:12\n"
            "1250000+750000 js:global@http://localhost:8081/index.bundle:1 gc:[GC Young Gen]@:0\n"
            "2000000+500000 js:global@http://localhost:8081/index.bundle:1\n");
  EXPECT_EQ(profile->thread(profile->samples.context(0).thread).tid, 70);
  testing::read_every_prefix(kHermesFormat, text);
}

TEST(Hermes, FramesThatCallThemselvesEnd) {
  const Profile profile = testing::read_as(
      kHermesFormat,
      R"({"samples":[{"ts":1,"sf":1},{"ts":2,"sf":9},{"ts":3}],"stackFrames":{"1":{"name":"a","parent":2},"2":{"name":"b","parent":1}}})");
  ASSERT_EQ(profile.samples.size(), 3u);
  EXPECT_EQ(profile.stacks.unwind(profile.samples.stack(0)).size(), 2u);
  EXPECT_EQ(profile.samples.stack(1), kEmptyStack);
}

}  // namespace
}  // namespace nodescope
