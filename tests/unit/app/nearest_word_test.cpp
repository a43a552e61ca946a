#include "app/nearest_word.h"

#include <gtest/gtest.h>

#include <vector>

namespace nodescope {
namespace {

const std::vector<std::string> kWords = {"record", "report", "top", "ps", "dump", "view", "completion"};

TEST(NearestWord, FindsWhatWasMeant) {
  EXPECT_EQ(nearest_word("reprot", kWords), "report");
  EXPECT_EQ(nearest_word("recrd", kWords), "record");
  EXPECT_EQ(nearest_word("dumps", kWords), "dump");
  EXPECT_EQ(nearest_word("tpo", kWords), "top");
  EXPECT_EQ(nearest_word("comp", kWords), "completion");
}

TEST(NearestWord, SaysNothingAboutOtherWords) {
  EXPECT_EQ(nearest_word("serve", kWords), "");
  EXPECT_EQ(nearest_word("xy", kWords), "");
  EXPECT_EQ(nearest_word("", kWords), "");
  EXPECT_EQ(nearest_word(std::string(100'000, 'r'), kWords), "");
  EXPECT_EQ(nearest_word("report", {}), "");
}

}  // namespace
}  // namespace nodescope
