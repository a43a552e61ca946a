#include "analysis/labels.h"

#include <gtest/gtest.h>

#include "support/profiles.h"

namespace nodescope {
namespace {

class Labels : public ::testing::Test {
 protected:
  Frame frame(FrameKind kind, std::string_view function, std::string_view file = {}, std::uint32_t line = 0,
              std::uint32_t column = 0, std::string_view module = {}) {
    Frame made;
    made.kind = kind;
    made.function = profile_.strings.intern(function);
    made.file = profile_.strings.intern(file);
    made.line = line;
    made.column = column;
    made.module = profile_.strings.intern(module);
    return made;
  }

  Profile profile_;
};

TEST_F(Labels, NameScriptsWithTheirPlace) {
  const Frame fib = frame(FrameKind::kJs, "fib", "/app/x.js", 3, 9);
  EXPECT_EQ(label_of(profile_, fib), "fib /app/x.js:3:9");
  EXPECT_EQ(label_of(profile_, fib, LabelStyle::kShort), "fib x.js:3");
  EXPECT_EQ(label_of(profile_, frame(FrameKind::kJs, "", "/app/x.js", 3)), "(anonymous) /app/x.js:3");
  EXPECT_EQ(label_of(profile_, frame(FrameKind::kJs, "go", "node:internal/timers", 7), LabelStyle::kShort),
            "go node:internal/timers:7");
  EXPECT_EQ(label_of(profile_, frame(FrameKind::kJs, "lost")), "lost");
}

TEST_F(Labels, NameOtherCodeByItsFunctionOrModule) {
  EXPECT_EQ(label_of(profile_, frame(FrameKind::kNative, "uv_run", "/src/uv.c", 3)), "uv_run");
  EXPECT_EQ(label_of(profile_, frame(FrameKind::kNative, "", "", 0, 0, "/usr/lib/libfoo.so")), "[libfoo.so]");
  EXPECT_EQ(label_of(profile_, frame(FrameKind::kKernel, "", "", 0, 0, "[kernel.kallsyms]")),
            "[kernel.kallsyms]");
  EXPECT_EQ(label_of(profile_, frame(FrameKind::kKernel, "")), "[kernel]");
  EXPECT_EQ(label_of(profile_, frame(FrameKind::kRegExp, "a+")), "RegExp:a+");
  EXPECT_EQ(label_of(profile_, frame(FrameKind::kUnknown, "")), "[unknown]");
}

TEST_F(Labels, LeavePlainTextAsItIs) {
  EXPECT_EQ(label_of(profile_, frame(FrameKind::kUnknown, "std::map<a; b> ")), "std::map<a; b> ");
}

TEST_F(Labels, TellCodeOfALibraryWithoutAName) {
  profile_.frames.intern(frame(FrameKind::kUnknown, "", "", 0, 0, "/usr/lib/libc.so.6"));
  profile_.frames.intern(frame(FrameKind::kUnknown, "", "", 0, 0, "//anon"));
  LabelTable labels;
  const auto added = labels.add_frames(profile_);
  EXPECT_EQ(labels[added[0]].kind, FrameKind::kNative);
  EXPECT_EQ(labels[added[1]].kind, FrameKind::kUnknown);
}

TEST_F(Labels, MergeTiersUnlessToldApart) {
  Frame slow = frame(FrameKind::kJs, "fib", "/app/x.js", 3, 9);
  slow.tier = JsTier::kInterpreted;
  Frame fast = slow;
  fast.tier = JsTier::kTurbofan;
  fast.inlined = true;
  profile_.frames.intern(slow);
  profile_.frames.intern(fast);
  LabelTable merged;
  const auto same = merged.add_frames(profile_);
  EXPECT_EQ(same[0], same[1]);
  LabelTable apart(LabelOptions{LabelStyle::kFull, nullptr, false, false});
  const auto different = apart.add_frames(profile_);
  EXPECT_NE(different[0], different[1]);
  EXPECT_EQ(apart.text(different[0]), apart.text(different[1]));
}

TEST_F(Labels, StripHexadecimalNumbers) {
  profile_.frames.intern(frame(FrameKind::kNative, "a 0x7f12ab b 0x1 0x 0xg0xFF"));
  LabelTable labels(LabelOptions{LabelStyle::kFull, nullptr, true, true});
  const auto ids = labels.add_frames(profile_);
  EXPECT_EQ(labels.text(ids[0]), "a 0x... b 0x... 0x 0xg0x...");
}

TEST_F(Labels, TakeNamesFromElsewhere) {
  profile_.frames.intern(frame(FrameKind::kJs, "fib", "/app/x.js", 3));
  LabelOptions options;
  options.name = [](const Profile& profile, const Frame& named) {
    return "JS:*" + std::string(profile.text(named.function));
  };
  LabelTable labels(options);
  EXPECT_EQ(labels.text(labels.add_frames(profile_)[0]), "JS:*fib");
}

TEST_F(Labels, NamesOfProcessesAreNotFrames) {
  LabelTable labels;
  profile_.frames.intern(frame(FrameKind::kUnknown, "node"));
  const auto ids = labels.add_frames(profile_);
  EXPECT_NE(labels.add_name("node"), ids[0]);
  EXPECT_EQ(labels.text(LabelId{}), "");
}

}  // namespace
}  // namespace nodescope
