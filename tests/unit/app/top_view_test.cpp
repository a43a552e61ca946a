#include "app/top_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/profiles.h"

namespace nodescope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

void press(TopView& view, std::string_view keys) {
  for (const char key : keys) press_key(view, key);
}

class TopViewTest : public ::testing::Test {
 protected:
  std::string text(std::size_t first_sample = 0, TopSize size = {}) {
    return top_text(profile, counts, view, first_sample, size);
  }

  Profile profile = testing::profile_of("main;parse;read 3\nmain;parse 1\nmain;write 4\n");
  SamplingCounts counts{.complete = 3};
  TopView view;
};

TEST_F(TopViewTest, SortsAsTheUserSays) {
  EXPECT_LT(text().find("write"), text().find("main"));
  press(view, "s");
  EXPECT_LT(text().find("main"), text().find("write"));
  EXPECT_THAT(text(), HasSubstr("sort (total)"));
}

TEST_F(TopViewTest, FiltersByWhatIsTyped) {
  press(view, "/wrxx\x7F\x7Fi");
  EXPECT_THAT(text(), HasSubstr("filter: wri_"));
  press(view, "\n");
  EXPECT_THAT(text(), HasSubstr("write"));
  EXPECT_THAT(text(), Not(HasSubstr("parse")));
  EXPECT_FALSE(view.typing_filter);
}

TEST_F(TopViewTest, WhileTypingNoKeyIsACommand) {
  EXPECT_TRUE(press_key(view, '/'));
  EXPECT_TRUE(press_key(view, 'q'));
  EXPECT_TRUE(press_key(view, '\033'));
  EXPECT_TRUE(view.filter.empty());
  EXPECT_FALSE(press_key(view, 'q'));
}

TEST_F(TopViewTest, ShowsTheLastSamplesOrAll) {
  EXPECT_THAT(text(2), Not(HasSubstr("parse")));
  press(view, "a");
  EXPECT_THAT(text(2), HasSubstr("parse"));
}

TEST_F(TopViewTest, TellsCausesAsTheOtherCommandsDo) {
  profile = testing::profile_of("js:main;native:parse 3\njs:main 1\njs:main;gc:scavenge;kernel:fault 4\n");
  EXPECT_THAT(text(), HasSubstr("\nby cause: gc 50.0 %, native 37.5 %, js 12.5 %\n"));
  EXPECT_THAT(text(1), HasSubstr("\nby cause: gc 80.0 %, js 20.0 %\n"));
}

TEST_F(TopViewTest, SaysThatTheProcessHasEnded) {
  view.has_ended = true;
  EXPECT_THAT(text(), HasSubstr("write"));
  EXPECT_THAT(text(), HasSubstr("The process has ended"));
  EXPECT_THAT(text(), Not(HasSubstr("q quit")));
}

TEST(SampleWindow, BeginsWithTheFirstSampleAndThenMovesOn) {
  using std::chrono::seconds;
  const SampleWindow::Time begin{};
  SampleWindow window(begin, seconds(3));
  EXPECT_EQ(window.first_sample(begin + seconds(1), 100), 0u);
  EXPECT_EQ(window.first_sample(begin + seconds(2), 200), 0u);
  EXPECT_EQ(window.first_sample(begin + seconds(3), 300), 0u);
  EXPECT_EQ(window.first_sample(begin + seconds(4), 400), 100u);
}

TEST_F(TopViewTest, FitsTheTerminal) {
  const std::string screen = text(0, {30, 8});
  std::size_t lines = 1;
  std::size_t width = 0;
  for (const char c : screen) {
    width = c == '\n' ? 0 : width + ((static_cast<unsigned char>(c) & 0xC0) != 0x80 ? 1 : 0);
    lines += c == '\n' ? 1 : 0;
    ASSERT_LE(width, 30u);
  }
  EXPECT_LE(lines, 8u);
}

TEST_F(TopViewTest, NothingToShowIsSaid) {
  EXPECT_THAT(text(3), HasSubstr("nothing is on the CPU"));
}

}  // namespace
}  // namespace nodescope
