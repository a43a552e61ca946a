#include "analysis/source_lines.h"

#include <gmock/gmock.h>

namespace nodescope {
namespace {

using ::testing::ElementsAre;

class SourceLinesTest : public ::testing::Test {
 protected:
  StackId push(StackId caller, std::uint32_t line, std::uint32_t column, std::string_view file = "/a.js") {
    Frame frame;
    frame.function = profile_.strings.intern("f");
    frame.file = profile_.strings.intern(file);
    frame.kind = FrameKind::kJs;
    frame.line = line;
    frame.column = column;
    return profile_.stacks.push(caller, profile_.frames.intern(frame));
  }
  void sample(StackId stack, std::uint64_t weight) {
    const EventId event = profile_.intern_event("cpu", Unit::kSamples);
    profile_.samples.add({0, stack, {ThreadId{}, 0, event}, weight});
  }

  Profile profile_;
};

TEST_F(SourceLinesTest, ALineCountsASampleOnce) {
  const StackId outer = push(kEmptyStack, 1, 5);
  sample(push(outer, 1, 9), 3);
  sample(push(outer, 2, 1), 4);
  sample(push(outer, 7, 7, "/b.js"), 5);
  EXPECT_THAT(derive_source(profile_, "/a.js").lines,
              ElementsAre(SourceLine{1, 0, 3, 12}, SourceLine{2, 1, 4, 4}));
  EXPECT_THAT(derive_source(profile_, "/a.js", SourceBy::kColumn).lines,
              ElementsAre(SourceLine{1, 5, 0, 12}, SourceLine{1, 9, 3, 3}, SourceLine{2, 1, 4, 4}));
}

// What a source map makes one line may be on a stack twice, at two places.
TEST_F(SourceLinesTest, AGroupOfPlacesCountsASampleOnce) {
  const StackId outer = push(kEmptyStack, 1, 5);
  sample(push(outer, 1, 9), 3);
  sample(push(outer, 2, 1), 4);
  const auto places = derive_source(profile_, "/a.js", SourceBy::kColumn).lines;
  const SelfAndTotal sums = sum_places(profile_, "/a.js", places, {1, 0, 1});
  EXPECT_THAT(sums.self, ElementsAre(3, 4));
  EXPECT_THAT(sums.total, ElementsAre(3, 7));
}

}  // namespace
}  // namespace nodescope
