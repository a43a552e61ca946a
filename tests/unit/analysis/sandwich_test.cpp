#include "analysis/sandwich.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/source_lines.h"
#include "support/profiles.h"

namespace nodescope {
namespace {

using testing::profile_of;

// "name total" of every box, a line for each level.
std::string boxes(const CallTree& tree) {
  std::string text;
  std::uint32_t depth = 0;
  for (const CallNode& node : tree.nodes) {
    if (!text.empty()) text += node.depth != depth ? " / " : ", ";
    depth = node.depth;
    text += std::string(tree.text(node)) + " " + std::to_string(node.total);
  }
  return text;
}

TEST(Sandwich, HasCallersAndCallees) {
  const Sandwich sandwich =
      derive_sandwich(profile_of("main;a;f;x 3\nmain;b;f;y 4\nmain;b;f 5\nmain;b;y 9"), {"f", ""}, {});
  EXPECT_EQ(sandwich.total, 12u);
  EXPECT_EQ(sandwich.self, 5u);
  EXPECT_EQ(boxes(sandwich.callers), "f 12 / a 3, b 9 / main 3, main 9");
  EXPECT_EQ(boxes(sandwich.callees), "f 12 / x 3, y 4");
  EXPECT_EQ(sandwich.callees.nodes[0].self, 5u);
}

TEST(Sandwich, CountsRecursionOnce) {
  const Sandwich sandwich = derive_sandwich(profile_of("main;f;g;f;x 3\nmain;f;x 4"), {"f", ""}, {});
  EXPECT_EQ(sandwich.total, 7u);
  EXPECT_EQ(boxes(sandwich.callees), "f 7 / g 3, x 4 / f 3 / x 3");
  EXPECT_EQ(boxes(sandwich.callers), "f 7 / g 3, main 4 / f 3 / main 3");
}

TEST(Sandwich, OfAFunctionThatIsNotThereIsEmpty) {
  const Sandwich sandwich = derive_sandwich(profile_of("main;f 1"), {"g", ""}, {});
  EXPECT_EQ(sandwich.total, 0u);
  EXPECT_TRUE(sandwich.callers.nodes.empty());
  EXPECT_TRUE(sandwich.callees.nodes.empty());
  EXPECT_EQ(derive_sandwich(Profile{}, {"", ""}, {}).total, 0u);
}

TEST(Sandwich, LeavesOutSmallBoxes) {
  SandwichOptions options;
  options.min = 0.5;
  const Sandwich sandwich = derive_sandwich(profile_of("a;f;x 1\nb;f;y 9"), {"f", ""}, options);
  EXPECT_EQ(boxes(sandwich.callers), "f 10 / b 9");
  EXPECT_EQ(boxes(sandwich.callees), "f 10 / y 9");
}

Frame frame_at(Profile& profile, std::string_view function, std::string_view file, std::uint32_t line,
               std::uint32_t begin) {
  Frame frame;
  frame.kind = FrameKind::kJs;
  frame.function = profile.strings.intern(function);
  frame.file = profile.strings.intern(file);
  frame.line = line;
  frame.column = 3;
  frame.function_line = begin;
  return frame;
}

TEST(SourceLines, CountALineOncePerSample) {
  Profile profile;
  const EventId event = profile.intern_event("cpu", Unit::kSamples);
  const auto push = [&](StackId caller, std::string_view function, std::string_view file, std::uint32_t line,
                        std::uint32_t begin) {
    return profile.stacks.push(caller, profile.frames.intern(frame_at(profile, function, file, line, begin)));
  };
  const StackId outer = push(kEmptyStack, "f", "/app/a.js", 4, 2);
  const StackId again = push(outer, "f", "/app/a.js", 4, 2);
  const StackId other = push(again, "g", "/app/a.js", 9, 8);
  const StackId far = push(other, "h", "/app/node_modules/p/b.js", 1, 1);
  const StackId node = push(far, "emit", "node:events", 1, 1);
  int weight = 1;
  for (const StackId stack : {outer, again, other, far, node}) {
    profile.samples.add({0, stack, {ThreadId{}, 0, event}, static_cast<std::uint64_t>(weight)});
    weight *= 10;
  }
  const SourceFile source = derive_source(profile, "/app/a.js");
  EXPECT_THAT(source.lines,
              ::testing::ElementsAre(SourceLine{4, 3, 11, 11111}, SourceLine{9, 3, 100, 11100}));
  EXPECT_THAT(source.functions, ::testing::ElementsAre(SourceFunction{"f", 2}, SourceFunction{"g", 8}));
  EXPECT_THAT(derive_files(profile),
              ::testing::ElementsAre(FileTotals{"/app/node_modules/p/b.js", 1000, 11000},
                                     FileTotals{"/app/a.js", 111, 11111}));
  EXPECT_TRUE(derive_source(profile, "").lines.empty());
}

TEST(SourceLines, TellPlacesOfOneLineApartWhereAsked) {
  Profile profile;
  const EventId event = profile.intern_event("cpu", Unit::kSamples);
  for (const std::uint32_t column : {7u, 3u}) {
    Frame frame = frame_at(profile, "f", "/app/bundle.js", 1, 1);
    frame.column = column;
    const StackId stack = profile.stacks.push(kEmptyStack, profile.frames.intern(frame));
    profile.samples.add({0, stack, {ThreadId{}, 0, event}, column});
  }
  EXPECT_THAT(derive_source(profile, "/app/bundle.js").lines,
              ::testing::ElementsAre(SourceLine{1, 0, 10, 10}));
  EXPECT_THAT(derive_source(profile, "/app/bundle.js", SourceBy::kColumn).lines,
              ::testing::ElementsAre(SourceLine{1, 3, 3, 3}, SourceLine{1, 7, 7, 7}));
}

}  // namespace
}  // namespace nodescope
