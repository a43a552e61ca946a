#include "binary/build_id.h"

#include <gtest/gtest.h>

#include "base/byte_source.h"

namespace nodescope {
namespace {

TEST(BuildId, HexAndBack) {
  const auto id = BuildId::from_hex("ebeaf2df364d5eeb7096f0f7722a69eec6efdf3b");
  ASSERT_TRUE(id);
  EXPECT_EQ(id->bytes().size(), 20u);
  EXPECT_EQ(id->to_hex(), "ebeaf2df364d5eeb7096f0f7722a69eec6efdf3b");
}

TEST(BuildId, RefusesWhatIsNone) {
  EXPECT_FALSE(BuildId::from_hex(""));
  EXPECT_FALSE(BuildId::from_hex("abc"));
  EXPECT_FALSE(BuildId::from_hex("zz"));
  EXPECT_FALSE(BuildId::from_hex("+1"));
  EXPECT_FALSE(BuildId::from_hex(std::string(66, 'a')));
  EXPECT_FALSE(BuildId::from_bytes({}));
}

TEST(BuildId, TrailingZerosMakeNoDifference) {
  EXPECT_EQ(BuildId::from_hex("abcd"), BuildId::from_hex("abcd000000"));
  EXPECT_NE(BuildId::from_hex("abcd"), BuildId::from_hex("abcd01"));
}

}  // namespace
}  // namespace nodescope
