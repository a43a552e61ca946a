#include "source_maps/source_map.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace nodescope {
namespace {

// Two lines of a.ts, which became one; the second name is there, too.
constexpr std::string_view kSimple =
    R"({"version":3,"sources":["../src/a.ts"],"sourcesContent":["one\ntwo"],"names":["first"],)"
    R"("mappings":"AAAAA,GACG;;C"})";

SourceMap parse(std::string_view text) {
  auto map = SourceMap::parse(std::string(text), "/app/dist/a.js.map");
  if (!map) throw std::runtime_error(map.error().message);
  return std::move(*map);
}

std::string find(const SourceMap& map, TextPlace place) {
  const auto found = map.find(std::vector{place}).front();
  if (!found) return "nothing before";
  if (!found->covers) return fmt::format("after {}:{}", found->original.line, found->original.column);
  std::string text =
      fmt::format("{} {}:{}", map.source(found->source), found->original.line, found->original.column);
  if (found->name != MappedPlace::kNoName) text += " " + map.symbol(found->name);
  return text;
}

TEST(SourceMapLookup, FindsTheSegmentThatCoversAPlace) {
  const SourceMap map = parse(kSimple);
  EXPECT_EQ(find(map, {1, 1}), "/app/src/a.ts 1:1 first");
  EXPECT_EQ(find(map, {1, 3}), "/app/src/a.ts 1:1 first");
  EXPECT_EQ(find(map, {1, 4}), "/app/src/a.ts 2:4");
  EXPECT_EQ(find(map, {1, 400}), "/app/src/a.ts 2:4");
}

TEST(SourceMapLookup, DoesNotReachIntoTheNextLineNorWhereNothingComesFromASource) {
  const SourceMap map = parse(kSimple);
  EXPECT_EQ(find(map, {2, 1}), "after 2:4");
  EXPECT_EQ(find(map, {3, 1}), "after 2:4");
  EXPECT_EQ(find(map, {3, 5}), "after 2:4");
  EXPECT_EQ(find(parse(R"({"version":3,"sources":["a"],"mappings":"A,CAAA"})"), {1, 1}), "nothing before");
}

TEST(SourceMapLookup, AnswersManyQuestionsAtOnce) {
  const SourceMap map = parse(kSimple);
  const auto found = map.find(std::vector<TextPlace>{{1, 1}, {1, 2}, {1, 4}, {1, 4}, {9, 9}});
  ASSERT_EQ(found.size(), 5u);
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[2], found[3]);
  EXPECT_EQ(found[2]->original, (TextPlace{2, 4}));
  EXPECT_FALSE(found[4]->covers);
}

TEST(SourceMapLookup, SaysNothingWhereSegmentsAreOutOfOrder) {
  const SourceMap map = parse(R"({"version":3,"sources":["a"],"mappings":"KAAA,HAAA"})");
  EXPECT_EQ(find(map, {1, 6}), "nothing before");
}

TEST(SourceMapLookup, TakesTheLastOfSegmentsAtOnePlaceAsNodeDoes) {
  EXPECT_EQ(find(parse(R"({"version":3,"sources":["/s/a"],"mappings":"AAAA,AACA"})"), {1, 1}), "/s/a 2:1");
}

TEST(SourceMapSections, EachHaveTheirOwnSourcesAndNames) {
  const SourceMap map = parse(
      R"({"version":3,"sections":[)"
      R"({"offset":{"line":1,"column":4},"map":{"version":3,"sources":["/s/b.ts"],"names":["b"],"mappings":"AAAAA"}},)"
      R"({"offset":{"line":0,"column":0},"map":{"version":3,"sources":["/s/a.ts"],"names":["a"],"mappings":"AAAAA;AACA"}}]})");
  EXPECT_EQ(find(map, {1, 1}), "/s/a.ts 1:1 a");
  EXPECT_EQ(find(map, {2, 2}), "/s/a.ts 2:1");
  EXPECT_EQ(find(map, {2, 5}), "/s/b.ts 1:1 b");
}

TEST(SourceMapSections, InsideOfSectionsAreLeftOut) {
  const std::string inner = R"({"version":3,"sources":["a"],"mappings":"AAAA"})";
  const std::string nested = fmt::format(R"({{"version":3,"sections":[{{"map":{}}}]}})", inner);
  EXPECT_FALSE(
      SourceMap::parse(fmt::format(R"({{"version":3,"sections":[{{"map":{}}}]}})", nested), "m").has_value());
}

TEST(SourceMapText, GivesSourcesAndWhatIsIgnored) {
  const SourceMap map = parse(
      R"()]}'
{"version":3,"sourceRoot":"webpack://app","sources":["./src/\u0061.ts","node_modules/x/i.js",null],)"
      R"("sourcesContent":["const \"a\" = 1;\n",null],"ignoreList":[1,9],"debugId":"1-2","mappings":""})");
  ASSERT_EQ(map.source_count(), 3u);
  EXPECT_EQ(map.source(0), "webpack://app/src/a.ts");
  EXPECT_EQ(map.content(0), "const \"a\" = 1;\n");
  EXPECT_EQ(map.content(1), std::nullopt);
  EXPECT_EQ(map.content(2), std::nullopt);
  EXPECT_FALSE(map.is_ignored(0));
  EXPECT_TRUE(map.is_ignored(1));
  EXPECT_EQ(map.source_file(0), std::nullopt);
  EXPECT_EQ(map.debug_id(), "1-2");
}

TEST(SourceMapText, IsRefusedIfItIsNoMap) {
  for (const char* text : {"", "{", "[]", "{}", R"({"version":3})", R"({"version":2,"mappings":""})",
                           R"({"version":3,"mappings":7})", R"({"version":3,"mappings":"AAAA)"}) {
    EXPECT_FALSE(SourceMap::parse(text, "m").has_value()) << text;
  }
}

TEST(SourceMapDamage, EndsTheMappingsAndGivesNothingOutOfRange) {
  for (const char* mappings : {"AAAA,~", "AAAA,g", "AAAA,gggggggggggggggggggB", "AAAA,DAAA", "AAAA,CCAA",
                               "AAAA,CAAAZ", "AAAA,CAAAC", "AAAA,CDAA", "AAAA,CADA", "AAAA,CAA"}) {
    const SourceMap map =
        parse(fmt::format(R"({{"version":3,"sources":["/s/a"],"mappings":"{}"}})", mappings));
    EXPECT_THAT(find(map, {1, 1}), ::testing::StartsWith("/s/a 1:1")) << mappings;
    for (const auto& found : map.find(std::vector<TextPlace>{{1, 2}, {1, 3}, {2, 1}})) {
      if (found) EXPECT_EQ(found->source, 0u) << mappings;
      if (found) EXPECT_EQ(found->name, MappedPlace::kNoName) << mappings;
    }
  }
}

TEST(SourceMapDamage, LeavesEveryPrefixSafe) {
  for (std::size_t size = 0; size <= kSimple.size(); ++size) {
    const auto map = SourceMap::parse(std::string(kSimple.substr(0, size)), "m");
    EXPECT_EQ(map.has_value(), size == kSimple.size()) << size;
  }
}

TEST(SourceMapFit, IsWithinTheLinesOfTheFile) {
  const SourceMap map = parse(R"({"version":3,"sources":["a"],"mappings":"AAAA,KAAA;CAAA"})");
  EXPECT_TRUE(map.fits(std::vector<std::uint32_t>{10, 10}));
  EXPECT_TRUE(map.fits(std::vector<std::uint32_t>{5, 1}));
  EXPECT_FALSE(map.fits(std::vector<std::uint32_t>{4, 10}));
  EXPECT_FALSE(map.fits(std::vector<std::uint32_t>{10}));
}

TEST(SourceMapFit, CanBeToAFirstLineThatWasChanged) {
  SourceMap map = parse(kSimple);
  map.shift_first_line(10);
  EXPECT_EQ(find(map, {1, 1}), "nothing before");
  EXPECT_EQ(find(map, {1, 11}), "/app/src/a.ts 1:1 first");
}

TEST(SourceMapMemory, IsLittleMoreThanTheText) {
  std::string names;
  for (int i = 0; i < 100'000; ++i) names += fmt::format("{}\"name{}\"", i == 0 ? "" : ",", i);
  const std::string text =
      fmt::format(R"({{"version":3,"sources":["a"],"names":[{}],"mappings":"AAAAA"}})", names);
  EXPECT_LT(parse(text).memory_bytes(), 2 * text.size());
}

}  // namespace
}  // namespace nodescope
