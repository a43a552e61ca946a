#include "app/selection_options.h"

#include <gtest/gtest.h>

#include "support/profiles.h"

namespace nodescope {
namespace {

TEST(Duration, TakesWhatPeopleWrite) {
  EXPECT_EQ(parse_duration_ns("1.5"), 1'500'000'000);
  EXPECT_EQ(parse_duration_ns("1.5s"), 1'500'000'000);
  EXPECT_EQ(parse_duration_ns("200ms"), 200'000'000);
  EXPECT_EQ(parse_duration_ns("7us"), 7'000);
  EXPECT_EQ(parse_duration_ns("7ns"), 7);
  EXPECT_EQ(parse_duration_ns("2m"), 120'000'000'000);
  EXPECT_EQ(parse_duration_ns("1h"), 3'600'000'000'000);
  EXPECT_EQ(parse_duration_ns("01:30.5"), 90'500'000'000);
}

TEST(Duration, RefusesTheRest) {
  for (const char* text : {"", "s", "-1s", "soon", "1e300s", "nan", "1:75", "1:2:3", "5 s"}) {
    EXPECT_FALSE(parse_duration_ns(text)) << text;
  }
}

TEST(Select, NamesTheEventsThatThereAre) {
  SelectionOptions options;
  options.event = "cycles";
  const auto selected = select(testing::profile_of("a;b 1"), options, "x");
  ASSERT_FALSE(selected);
  EXPECT_EQ(selected.error().code, ErrorCode::kUsage);
  EXPECT_NE(selected.error().message.find("which has: samples"), std::string::npos);
}

TEST(Select, RefusesAnEmptyTimeRange) {
  SelectionOptions options;
  options.from = "2s";
  options.until = "1s";
  EXPECT_EQ(select(testing::profile_of("a 1"), options, "x").error().code, ErrorCode::kUsage);
}

}  // namespace
}  // namespace nodescope
