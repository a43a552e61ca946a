#include "analysis/function_match.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "analysis/diff.h"
#include "analysis/file_match.h"
#include "analysis/place_match.h"
#include "formats/folded/folded.h"
#include "support/profiles.h"

namespace nodescope {
namespace {

using testing::read_as;

// What a comparison of two files of folded stacks shows: "name before>after", where anything is.
std::string compared(std::string_view before, std::string_view after) {
  const Diff diff = derive_diff(read_as(kFoldedFormat, before), read_as(kFoldedFormat, after), {});
  std::string text;
  for (const DiffFunction& f : diff.derive_functions())
    text += fmt::format("{} {}>{}\n", f.name, f.before_self, f.after_self);
  return text;
}

TEST(FunctionMatch, FollowsAFunctionWhoseLinesMoved) {
  EXPECT_EQ(compared("JS:*main /app/x.js:1:1;JS:*parse /app/x.js:10:3 70",
                     "JS:~main /app/x.js:1:1;JS:~parse /app/x.js:12:3 90"),
            "parse /app/x.js:12:3 70>90\nmain /app/x.js:1:1 0>0\n");
}

TEST(FunctionMatch, FollowsAReleaseFolder) {
  EXPECT_EQ(
      compared("JS:parse /app/releases/41/lib/rows.js:1:1 5\nJS:parse /app/releases/41/lib/csv.js:1:1 7",
               "JS:parse /app/releases/42/lib/rows.js:4:1 6\nJS:parse /app/releases/42/lib/csv.js:1:1 7"),
      "parse /app/releases/42/lib/rows.js:4:1 5>6\nparse /app/releases/42/lib/csv.js:1:1 7>7\n");
}

TEST(FunctionMatch, TellsEqualNamesApartByTheirOrder) {
  EXPECT_EQ(compared("JS:get /a.js:5:1 1\nJS:get /a.js:15:1 2\nJS:get /a.js:25:1 3",
                     "JS:get /a.js:15:1 1\nJS:get /a.js:25:1 2\nJS:get /a.js:35:1 9"),
            "get /a.js:35:1 3>9\nget /a.js:15:1 1>1\nget /a.js:25:1 2>2\n");
}

// Not every function of a file is in every profile.
TEST(FunctionMatch, DoesNotTakeAnAnonymousFunctionForAnotherOne) {
  EXPECT_EQ(compared("JS:first /a.js:1:1 1\nJS: /a.js:10:5 20\nJS:last /a.js:50:1 1",
                     "JS:first /a.js:3:1 1\nJS:last /a.js:52:1 1\nJS: /a.js:60:5 30"),
            "(anonymous) /a.js:60:5 0>30\n(anonymous) /a.js:10:5 20>0\nfirst /a.js:3:1 1>1\nlast /a.js:52:1 "
            "1>1\n");
}

// Two lines were added on top, so the place of one is now that of another.
TEST(FunctionMatch, LooksForAnonymousFunctionsWhereTheyHaveMovedTo) {
  EXPECT_EQ(compared("JS:f /a.js:1:1 1\nJS: /a.js:10:5 20\nJS: /a.js:12:5 30",
                     "JS:f /a.js:3:1 1\nJS: /a.js:12:5 20\nJS: /a.js:14:5 90"),
            "(anonymous) /a.js:14:5 30>90\n(anonymous) /a.js:12:5 20>20\nf /a.js:3:1 1>1\n");
}

// What stood at line 10 was removed, and what stood at line 8 stands there now.
TEST(FunctionMatch, KeepsTwoFunctionsApartThatHaveOnePlace) {
  EXPECT_EQ(
      compared("JS:f /a.js:1:1 1\nJS: /a.js:8:5 20\nJS:g /a.js:9:1 1\nJS: /a.js:10:5 30\nJS:h /a.js:12:1 1",
               "JS:f /a.js:3:1 1\nJS: /a.js:10:5 20\nJS:g /a.js:11:1 1\nJS:h /a.js:13:1 1"),
      "(anonymous) /a.js:10:5 30>0\n(anonymous) /a.js:10:5 20>20\nf /a.js:3:1 1>1\ng /a.js:11:1 "
      "1>1\nh /a.js:13:1 1>1\n");
}

TEST(FunctionMatch, MatchesMinifiedCodeByColumns) {
  EXPECT_EQ(
      compared(
          "JS:a /d/main-4f3a2b1c.js:1:10 1\nJS: /d/main-4f3a2b1c.js:1:50 2\nJS: /d/main-4f3a2b1c.js:1:90 3",
          "JS:a /d/main-99ab00fe.js:1:30 1\nJS: /d/main-99ab00fe.js:1:70 2\nJS: "
          "/d/main-99ab00fe.js:1:110 8"),
      "(anonymous) /d/main-99ab00fe.js:1:110 3>8\n(anonymous) /d/main-99ab00fe.js:1:70 2>2\na "
      "/d/main-99ab00fe.js:1:30 1>1\n");
}

TEST(FunctionMatch, LetsAnUnknownKindMatchAny) {
  EXPECT_EQ(
      compared("main;parse;Builtin:ArraySort 5", "JS:main /a.js:1:1;JS:parse /a.js:7:1;Builtin:ArraySort 8"),
      "parse /a.js:7:1 0>0\nArraySort 5>8\nmain /a.js:1:1 0>0\n");
  EXPECT_EQ(compared("JS:parse /a.js:1:1 5", "parse (/a.js:3:1) 6"), "parse /a.js:1:1 5>6\n");
  EXPECT_EQ(compared("JS:parse /a.js:1:1 5", "parse /b/a.js:3 6"), "parse /a.js:1:1 5>6\n");
}

TEST(FunctionMatch, ComparesANameWithAllThatHaveIt) {
  EXPECT_EQ(compared("parse 9", "JS:parse /a.js:1:1 4\nJS:parse /b.js:1:1 6"), "parse 9>10\n");
  EXPECT_EQ(compared("JS:parse /a.js:1:1 4\nJS:parse /b.js:1:1 6", "parse 9"), "parse 10>9\n");
}

TEST(FunctionMatch, FollowsARenamedFileOnly) {
  EXPECT_EQ(compared("JS:parse /app/rows.js:1:1 4", "JS:parse /app/lines.js:1:1 6"),
            "parse /app/lines.js:1:1 4>6\n");
  EXPECT_EQ(compared("JS:parse /app/rows.js:1:1 4\nJS:x /app/lines.js:9:1 1", "JS:parse /app/lines.js:1:1 6"),
            "parse /app/lines.js:1:1 0>6\nparse /app/rows.js:1:1 4>0\nx /app/lines.js:9:1 1>0\n");
}

TEST(FunctionMatch, DoesNotMixPackages) {
  EXPECT_EQ(
      compared("JS:get /app/node_modules/a/index.js:1:1 4", "JS:get /app/node_modules/b/index.js:1:1 6"),
      "get /app/node_modules/b/index.js:1:1 0>6\nget /app/node_modules/a/index.js:1:1 4>0\n");
  EXPECT_EQ(compared("JS:get /v1/node_modules/.pnpm/a@1.0.0/node_modules/a/index.js:1:1 4",
                     "JS:get /v2/node_modules/.pnpm/a@1.1.0/node_modules/a/index.js:2:1 6"),
            "get /v2/node_modules/.pnpm/a@1.1.0/node_modules/a/index.js:2:1 4>6\n");
}

TEST(FileMatch, GoesByTheLongestTail) {
  const FileMatch match = match_files({"/r/1/a/index.js", "/r/1/b/index.js", "/r/1/only.js", "/same.js"},
                                      {"/r/2/b/index.js", "/r/2/a/index.js", "/same.js"});
  EXPECT_EQ(match.size(), 3u);
  EXPECT_EQ(match.at("/r/1/a/index.js"), "/r/2/a/index.js");
  EXPECT_EQ(match.at("/r/1/b/index.js"), "/r/2/b/index.js");
  EXPECT_EQ(match.at("/same.js"), "/same.js");
}

TEST(FileMatch, LeavesOutWhatCouldBeSeveral) {
  EXPECT_TRUE(match_files({"/a/index.js", "/b/index.js"}, {"/c/index.js"}).empty());
  EXPECT_TRUE(match_files({"", "/", "//"}, {"", "x"}).empty());
}

TEST(PlaceMatch, LeavesOutLandmarksThatWerePassed) {
  const FileLandmarks landmarks(
      {{{10, 1}, {20, 1}}, {{15, 1}, {25, 1}}, {{30, 1}, {5, 1}}, {{40, 1}, {50, 1}}});
  EXPECT_EQ(landmarks.moved({12, 3}), (Place{22, 3}));
  EXPECT_EQ(landmarks.moved({41, 3}), (Place{51, 3}));
  EXPECT_EQ(landmarks.moved({1, 1}), (Place{11, 1}));
  EXPECT_EQ(landmarks.stretch_before({35, 1}), 2u);
  EXPECT_EQ(landmarks.stretch_after({60, 1}), 3u);
}

TEST(PlaceMatch, TakesTheNearestWhereCountsDiffer) {
  using Pairs = std::vector<std::pair<std::size_t, std::size_t>>;
  const std::vector<Place> few = {{11, 1}, {52, 1}};
  const std::vector<Place> many = {{1, 1}, {10, 1}, {50, 1}, {90, 1}};
  EXPECT_EQ(match_places(few, many, {}), (Pairs{{1, 2}, {0, 1}}));
  EXPECT_EQ(match_places(many, few, {}), (Pairs{{2, 1}, {1, 0}}));
}

}  // namespace
}  // namespace nodescope
