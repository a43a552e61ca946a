#include "source_maps/text_places.h"

#include <gmock/gmock.h>

namespace nodescope {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

TEST(TextPlaces, CountUtf16UnitsAndAllEndsOfLines) {
  EXPECT_THAT(line_lengths("ab\ncd\r\n\re\xE2\x80\xA8"
                           "f"),
              ElementsAre(2, 2, 0, 1, 1));
  EXPECT_THAT(line_lengths("\xC3\xBC\xF0\x9F\x98\x80"
                           "x"),
              ElementsAre(4));
  EXPECT_THAT(line_lengths(""), ElementsAre(0));
}

TEST(TextPlaces, LeadToOffsetsAndBack) {
  const std::string_view text = "\xC3\xBC\xF0\x9F\x98\x80x\nyz";
  const std::vector<TextPlace> places = {{1, 1}, {1, 2}, {1, 4}, {1, 9}, {2, 1}, {2, 3}, {3, 1}};
  EXPECT_THAT(offsets_of(text, places), ElementsAre(Optional(0u), Optional(2u), Optional(6u), std::nullopt,
                                                    Optional(8u), Optional(10u), std::nullopt));
  const std::vector<std::size_t> offsets = {0, 2, 6, 8, 10};
  EXPECT_THAT(places_of(text, offsets), ElementsAre(TextPlace{1, 1}, TextPlace{1, 2}, TextPlace{1, 4},
                                                    TextPlace{2, 1}, TextPlace{2, 3}));
}

}  // namespace
}  // namespace nodescope
