#include "render/flame_colours.h"

#include <gtest/gtest.h>

namespace nodescope {
namespace {

TEST(FlameColours, PalettesHaveNames) {
  for (const std::string_view name :
       {"hot", "mem", "io", "wakeup", "chain", "java", "js", "perl", "red", "green", "blue", "aqua", "yellow",
        "purple", "orange", "kind", "auto"}) {
    const auto palette = palette_of(name);
    ASSERT_TRUE(palette) << name;
    EXPECT_EQ(to_string(*palette), name);
  }
  EXPECT_FALSE(palette_of("pink"));
}

TEST(FlameColours, AreParsed) {
  EXPECT_EQ(parse_colour("#0aF010"), (Rgb{10, 240, 16}));
  EXPECT_EQ(parse_colour("#0f8"), (Rgb{0, 255, 136}));
  EXPECT_EQ(parse_colour("rgb(1,2,255)"), (Rgb{1, 2, 255}));
  for (const std::string_view bad :
       {"", "#", "#12", "#12345g", "rgb(1,2)", "rgb(1,2,256)", "rgb(1,2,3);}", "red", "#-1-1-1"}) {
    EXPECT_FALSE(parse_colour(bad)) << bad;
  }
}

// Values of flamegraph.pl itself.
TEST(FlameColours, AreThoseOfFlamegraphPl) {
  EXPECT_EQ(FlameColours(Palette::kHot, Shade::kByName).colour_of("main", FrameKind::kUnknown, false),
            (Rgb{243, 179, 42}));
  EXPECT_EQ(FlameColours(Palette::kHot, Shade::kByName).colour_of("", FrameKind::kUnknown, false),
            (Rgb{213, 39, 9}));
}

TEST(FlameColours, FollowAnnotationsAndKinds) {
  const auto is_green = [](Rgb colour) { return colour.green >= 200 && colour.red < 120; };
  const auto is_aqua = [](Rgb colour) { return colour.green == colour.blue && colour.red < 120; };
  const auto is_orange = [](Rgb colour) { return colour.blue == 0; };
  FlameColours js(Palette::kJs, Shade::kByName);
  EXPECT_TRUE(is_green(js.colour_of("fib /app/x.js:3_[j]", FrameKind::kUnknown, false)));
  EXPECT_TRUE(is_aqua(js.colour_of("ArrayMap_[j]", FrameKind::kUnknown, false)));
  EXPECT_TRUE(is_orange(js.colour_of("read_[k]", FrameKind::kUnknown, false)));
  EXPECT_TRUE(is_green(js.colour_of("fib", FrameKind::kJs, false)));
  EXPECT_TRUE(is_aqua(js.colour_of("ArrayMap", FrameKind::kBuiltin, false)));
  EXPECT_TRUE(is_orange(js.colour_of("read", FrameKind::kKernel, false)));
  FlameColours java(Palette::kJava, Shade::kByName);
  EXPECT_TRUE(is_green(java.colour_of("java/lang/String", FrameKind::kUnknown, false)));
  EXPECT_TRUE(is_aqua(java.colour_of("x_[i]", FrameKind::kUnknown, false)));
}

TEST(FlameColours, AreRandomWhereAsked) {
  FlameColours random(Palette::kHot, Shade::kRandom, 7);
  const Rgb first = random.colour_of("a", FrameKind::kUnknown, false);
  EXPECT_NE(random.colour_of("a", FrameKind::kUnknown, false), first);
  EXPECT_EQ(FlameColours(Palette::kHot, Shade::kRandom, 7).colour_of("b", FrameKind::kUnknown, false), first);
}

TEST(PaletteMap, IsReadAndWritten) {
  const ConsistentPalette palette =
      parse_palette_map("main->rgb(1,2,3)\nFoo::operator->->rgb(4,5,6)\nnonsense\nx->red\n");
  EXPECT_EQ(palette, (ConsistentPalette{{"main", {1, 2, 3}}, {"Foo::operator->", {4, 5, 6}}}));
  EXPECT_EQ(parse_palette_map(write_palette_map(palette)), palette);
}

}  // namespace
}  // namespace nodescope
