#include "render/flame_svg.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <regex>

#include "analysis/diff.h"
#include "support/profiles.h"

namespace nodescope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::plain_profile_of;
using testing::profile_of;

std::string svg_of(const Profile& profile, const FlameOptions& options = {},
                   const CallTreeOptions& tree = {}) {
  StringSink sink;
  const auto report = write_flame_svg(profile, tree, options, sink);
  EXPECT_TRUE(report) << report.error().message;
  return sink.text();
}

struct Box {
  unsigned row = 0;  // from the root
  double x = 0;
  double width = 0;
  std::string colour;  // "1,2,3", or empty for a class
  std::string title;
};

std::string unescaped(std::string text) {
  for (const auto& [escape, character] :
       {std::pair("&lt;", "<"), std::pair("&gt;", ">"), std::pair("&quot;", "\""), std::pair("&#39;", "'"),
        std::pair("&amp;", "&")}) {
    for (std::size_t at = text.find(escape); at != std::string::npos; at = text.find(escape, at + 1)) {
      text.replace(at, std::strlen(escape), character);
    }
  }
  return text;
}

std::string colour_of(const std::string& hex) {
  const auto part = [&](std::size_t at) { return std::stoi(hex.substr(at, 2), nullptr, 16); };
  return fmt::format("{},{},{}", part(0), part(2), part(4));
}

std::vector<Box> boxes_of(const std::string& svg) {
  std::smatch frames;
  EXPECT_TRUE(std::regex_search(svg, frames,
                                std::regex("<svg id=\"frames\" x=\"10\" y=\"[0-9]+\" width=\"([0-9]+)\"[^>]* "
                                           "viewBox=\"0 0 ([0-9]+) ([0-9]+)\"")));
  const double scale = std::stod(frames[1]) / std::stod(frames[2]);
  const auto rows = static_cast<unsigned>(std::stoul(frames[3]));
  const bool inverted = svg.find("data-inverted=\"1\"") != std::string::npos;
  std::vector<Box> boxes;
  const std::regex rect(
      "<rect x=\"([0-9]+)\" y=\"([0-9]+)\" width=\"([0-9]+)\" height=\"[0-9.]+\""
      "(?: fill=\"#([0-9a-f]{6})\"| class=\"[a-z]\")><title>([^<]*)</title></rect>");
  for (std::sregex_iterator match(svg.begin(), svg.end(), rect); match != std::sregex_iterator(); ++match) {
    const auto y = static_cast<unsigned>(std::stoul((*match)[2]));
    boxes.push_back({inverted ? y : rows - 1 - y, 10 + std::stod((*match)[1]) * scale,
                     std::stod((*match)[3]) * scale, (*match)[4].matched ? colour_of((*match)[4]) : "",
                     unescaped((*match)[5])});
  }
  return boxes;
}

std::vector<Box> expected_boxes(const std::string& text) {
  std::vector<Box> boxes;
  std::istringstream lines(text);
  Box box;
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    std::string row;
    std::string x;
    std::string width;
    std::getline(fields, row, '\t');
    std::getline(fields, x, '\t');
    std::getline(fields, width, '\t');
    std::getline(fields, box.colour, '\t');
    std::getline(fields, box.title);
    box.row = static_cast<unsigned>(std::stoul(row));
    box.x = std::stod(x);
    box.width = std::stod(width);
    boxes.push_back(box);
  }
  return boxes;
}

void sort_boxes(std::vector<Box>& boxes) {
  std::ranges::sort(boxes, [](const Box& a, const Box& b) {
    return a.row != b.row ? a.row < b.row : std::abs(a.x - b.x) > 0.06 ? a.x < b.x : a.title < b.title;
  });
}

// Both round to a tenth of a pixel, the script's width twice.
void expect_boxes(std::vector<Box> actual, std::vector<Box> expected) {
  sort_boxes(actual);
  sort_boxes(expected);
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    EXPECT_EQ(actual[i].title, expected[i].title) << i;
    EXPECT_EQ(actual[i].row, expected[i].row) << expected[i].title;
    EXPECT_EQ(actual[i].colour, expected[i].colour) << expected[i].title;
    EXPECT_NEAR(actual[i].x, expected[i].x, 0.06) << expected[i].title;
    EXPECT_NEAR(actual[i].width, expected[i].width, 0.11) << expected[i].title;
  }
}

struct GoldenCase {
  std::string name;
  std::function<void(FlameOptions&, CallTreeOptions&)> set;
};

class FlameGolden : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(FlameGolden, DrawsTheBoxesOfFlamegraphPl) {
  const std::string folder = "tests/golden/flame/" + GetParam().name + "/";
  FlameOptions options;
  CallTreeOptions tree;
  GetParam().set(options, tree);
  const Profile profile = plain_profile_of(testing::read_test_file(folder + "input"));
  expect_boxes(boxes_of(svg_of(profile, options, tree)),
               expected_boxes(testing::read_test_file(folder + "expected")));
}

// The options are in each case's how.txt.
INSTANTIATE_TEST_SUITE_P(
    All, FlameGolden,
    ::testing::Values(
        GoldenCase{"node", [](FlameOptions&, CallTreeOptions&) {}},
        GoldenCase{"order", [](FlameOptions&, CallTreeOptions&) {}},
        GoldenCase{"reverse",
                   [](FlameOptions& flame, CallTreeOptions& tree) {
                     tree.reversed = true;
                     flame.min_width = {2, false};
                   }},
        GoldenCase{"chart", [](FlameOptions&, CallTreeOptions& tree) { tree.time_order = true; }},
        GoldenCase{"palette-js",
                   [](FlameOptions& flame, CallTreeOptions&) {
                     flame.palette = Palette::kJs;
                     flame.width = 900;
                   }},
        GoldenCase{"icicle",
                   [](FlameOptions& flame, CallTreeOptions&) {
                     flame.inverted = true;
                     flame.subtitle = "second";
                   }},
        GoldenCase{"minwidth", [](FlameOptions& flame, CallTreeOptions&) { flame.min_width = {12, false}; }},
        GoldenCase{"minwidth-percent",
                   [](FlameOptions& flame, CallTreeOptions&) { flame.min_width = {3, true}; }},
        GoldenCase{"total-factor",
                   [](FlameOptions& flame, CallTreeOptions&) {
                     flame.total = 500;
                     flame.factor = 2.5;
                     flame.count_name = "ms";
                   }},
        GoldenCase{"hash",
                   [](FlameOptions& flame, CallTreeOptions&) {
                     flame.shade = Shade::kByHash;
                     flame.palette = Palette::kMem;
                   }}),
    [](const auto& test) {
      std::string name = test.param.name;
      std::ranges::replace(name, '-', '_');
      return name;
    });

TEST(FlameSvg, SaysTimesAndSizesInWords) {
  Profile profile;
  const EventId time = profile.intern_event("cpu-clock", Unit::kNanoseconds);
  const EventId space = profile.intern_event("space", Unit::kBytes);
  const EventId cycles = profile.intern_event("cycles", Unit::kCount);
  Frame frame;
  frame.function = profile.strings.intern("f");
  const StackId stack = profile.stacks.push(kEmptyStack, profile.frames.intern(frame));
  for (const EventId event : {time, space, cycles}) {
    profile.samples.add({0, stack, {ThreadId{}, 0, event}, 1'500'000'000});
  }
  CallTreeOptions tree;
  EXPECT_THAT(svg_of(profile, {}, tree), HasSubstr("<title>f (1.50 s, 100.00%)"));
  tree.event = space;
  EXPECT_THAT(svg_of(profile, {}, tree), HasSubstr("<title>f (1.4 GB, 100.00%)"));
  tree.event = cycles;
  EXPECT_THAT(svg_of(profile, {}, tree), HasSubstr("<title>f (1,500,000,000 cycles, 100.00%)"));
  tree.event = time;
  FlameOptions options;
  options.count_name = "ns (wall)";
  EXPECT_THAT(svg_of(profile, options, tree), HasSubstr("<title>f (1,500,000,000 ns [wall], 100.00%)"));
  tree.count = CountBy::kSamples;
  EXPECT_THAT(svg_of(profile, {}, tree), HasSubstr("<title>f (1 samples, 100.00%)"));
}

TEST(FlameSvg, ColoursKindsAndTiersApart) {
  Profile profile = profile_of("main;js:a;kernel:b 5\nmain;gc:c 5\nmain;regexp:d 2");
  const std::string svg = svg_of(profile);
  EXPECT_THAT(svg, HasSubstr("prefers-color-scheme"));
  EXPECT_THAT(svg, HasSubstr("My JavaScript"));
  EXPECT_THAT(svg, HasSubstr("Garbage collection"));
  EXPECT_THAT(svg, Not(HasSubstr("WebAssembly</text>")));
  FlameOptions options;
  options.background = "#ffeecc";
  EXPECT_THAT(svg_of(profile, options), Not(HasSubstr("prefers-color-scheme")));
  // Plain text has no kinds: flamegraph.pl's own colours.
  EXPECT_THAT(svg_of(plain_profile_of("main;a 5")), HasSubstr("fill=\"#f3b32a\"><title>main"));
}

TEST(FlameSvg, KeepsColoursConsistent) {
  FlameOptions options;
  options.consistent = true;
  options.known = {{"a", {1, 2, 3}}, {"unused", {4, 5, 6}}};
  StringSink sink;
  const auto report = write_flame_svg(plain_profile_of("a;b 3"), {}, options, sink);
  ASSERT_TRUE(report);
  EXPECT_THAT(sink.text(), HasSubstr("fill=\"#010203\"><title>a ("));
  EXPECT_EQ(report->palette.size(), 4u);  // with the root and b
  EXPECT_EQ(report->palette.at("unused"), (Rgb{4, 5, 6}));
}

TEST(FlameSvg, ColoursWakersInAChain) {
  FlameOptions options;
  options.palette = Palette::kChain;
  const std::vector<Box> boxes = boxes_of(svg_of(plain_profile_of("sleep;--;wake 3\nsleep 2"), options));
  ASSERT_EQ(boxes.size(), 4u);
  const auto blue = [](const Box& box) { return std::stoi(box.colour.substr(box.colour.rfind(',') + 1)); };
  EXPECT_GE(blue(boxes[1]), 205);  // sleep
  EXPECT_EQ(boxes[2].colour, "160,160,160");
  EXPECT_LE(blue(boxes[3]), 220);  // aqua
  EXPECT_NE(boxes[3].colour, boxes[1].colour);
}

TEST(FlameSvg, LinksNamesWithAttributes) {
  FlameOptions options;
  options.name_attributes["a"] = {{"href", "https://x/?a=1&b=\"2\""}};
  EXPECT_THAT(svg_of(plain_profile_of("a;b 3"), options),
              HasSubstr("<a href=\"https://x/?a=1&amp;b=&quot;2&quot;\" target=\"_top\"><rect"));
  options.name_attributes["a"] = {{"href", " JavaScript:alert(1)"}};
  EXPECT_THAT(svg_of(plain_profile_of("a;b 3"), options), Not(HasSubstr("href=")));
}

TEST(FlameSvg, CutsLongNames) {
  const std::string svg = svg_of(plain_profile_of(std::string(100'000, 'x') + " 3"));
  EXPECT_LT(svg.size(), 40'000u);
  EXPECT_THAT(svg, HasSubstr("x… [100,000 bytes] (3 samples, 100.00%)"));
}

TEST(FlameSvg, CutsDeepStacks) {
  std::string stack = "f";
  for (int i = 0; i < 20'000; ++i) stack += ";f";
  StringSink sink;
  const auto report = write_flame_svg(plain_profile_of(stack + " 3"), {}, {}, sink);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->rows, 10'000u);
  EXPECT_EQ(report->boxes, 10'000u);
  EXPECT_EQ(report->diagnostics.entries().size(), 1u);
}

TEST(FlameSvg, OfNothingSaysSo) {
  StringSink sink;
  const auto report = write_flame_svg(Profile(), {}, {}, sink);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->boxes, 0u);
  EXPECT_TRUE(report->diagnostics.has(Severity::kError));
  EXPECT_THAT(sink.text(), HasSubstr("No samples to draw."));
}

TEST(FlameSvg, IgnoresATotalThatIsTooSmall) {
  FlameOptions options;
  options.total = 2;
  StringSink sink;
  const auto report = write_flame_svg(plain_profile_of("a 3"), {}, options, sink);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->diagnostics.entries().size(), 1u);
  EXPECT_THAT(sink.text(), HasSubstr("<title>a (3 samples, 100.00%)"));
}

TEST(FlameSvg, ShowsBothSidesOfAComparison) {
  const Profile before = plain_profile_of("a;b 10\na;c 10");
  const Profile after = plain_profile_of("a;b 30");
  const Diff diff = derive_diff(before, after, {});
  StringSink sink;
  ASSERT_TRUE(write_flame_svg(diff.derive_tree({}), {}, sink));
  EXPECT_THAT(sink.text(), HasSubstr("<title>a (30 samples, 100.00%; +33.33%)"));
  EXPECT_THAT(sink.text(), HasSubstr("<title>b (30 samples, 100.00%; +66.67%, self +66.67%)"));
  EXPECT_THAT(sink.text(), HasSubstr("Vanished, so without a box: 1 stack, 50.00% of before"));

  FlameOptions as_flamegraph;
  as_flamegraph.change = ChangeOf::kSelf;
  as_flamegraph.negate = true;
  StringSink self;
  ASSERT_TRUE(write_flame_svg(diff.derive_tree({}), as_flamegraph, self));
  EXPECT_THAT(self.text(), HasSubstr("<title>a (30 samples, 100.00%; 0.00%)"));
  EXPECT_THAT(self.text(), HasSubstr("<title>b (30 samples, 100.00%; -66.67%)"));

  DiffTreeOptions both;
  both.width = DiffWidth::kBoth;
  StringSink wide;
  ASSERT_TRUE(write_flame_svg(diff.derive_tree(both), {}, wide));
  EXPECT_THAT(wide.text(), HasSubstr("<title>c (10 samples → 0 samples; -33.33%, self -33.33%)"));
}

TEST(FlameOptions, AreChecked) {
  const auto refused = [](const std::function<void(FlameOptions&)>& set) {
    FlameOptions options;
    set(options);
    const auto checked = check_flame_options(options);
    return !checked && checked.error().code == ErrorCode::kUsage;
  };
  EXPECT_TRUE(check_flame_options({}));
  EXPECT_TRUE(refused([](FlameOptions& o) { o.width = 20; }));
  EXPECT_TRUE(refused([](FlameOptions& o) { o.row_height = 0; }));
  EXPECT_TRUE(refused([](FlameOptions& o) { o.font_size = std::nan(""); }));
  EXPECT_TRUE(refused([](FlameOptions& o) { o.min_width.value = -1; }));
  EXPECT_TRUE(refused([](FlameOptions& o) { o.factor = 0; }));
  EXPECT_TRUE(refused([](FlameOptions& o) { o.total = -1; }));
  EXPECT_TRUE(refused([](FlameOptions& o) { o.background = "#fff;}"; }));
  EXPECT_TRUE(refused([](FlameOptions& o) { o.background = "pink"; }));
  EXPECT_TRUE(refused([](FlameOptions& o) { o.search_colour = "red;}"; }));
  EXPECT_TRUE(refused([](FlameOptions& o) { o.encoding = "latin1"; }));
  EXPECT_FALSE(refused([](FlameOptions& o) { o.encoding = "UTF-8"; }));
  EXPECT_FALSE(refused([](FlameOptions& o) { o.background = "grey"; }));
}

TEST(MinWidth, IsPixelsOrAShare) {
  EXPECT_EQ(parse_min_width("0.5"), (MinWidth{0.5, false}));
  EXPECT_EQ(parse_min_width("2%"), (MinWidth{2, true}));
  for (const std::string_view bad : {"", "%", "x", "1px", "-1", "nan", "1e3", "1..2"})
    EXPECT_FALSE(parse_min_width(bad)) << bad;
}

}  // namespace
}  // namespace nodescope
