#include "capture/coverage.h"

#include <gtest/gtest.h>

#include <string>

namespace nodescope {
namespace {

const std::string kReply =
    R"({"id":3,"result":{"result":[{"scriptId":"1","url":"file:///a.js","functions":[)"
    R"({"functionName":"","ranges":[{"startOffset":0,"endOffset":100,"count":1}],"isBlockCoverage":true},)"
    R"({"functionName":"f","ranges":[{"startOffset":10,"endOffset":50,"count":4},)"
    R"({"startOffset":20,"endOffset":30,"count":0}],"isBlockCoverage":true},)"
    R"({"functionName":"g","ranges":[{"startOffset":60,"endOffset":80,"count":0}],"isBlockCoverage":false}]}],)"
    R"("timestamp":1.5}})";

TEST(Coverage, IsRead) {
  const auto scripts = parse_coverage(kReply);
  ASSERT_TRUE(scripts);
  ASSERT_EQ(scripts->size(), 1u);
  const CoveredScript& script = scripts->front();
  EXPECT_EQ(script.url, "file:///a.js");
  ASSERT_EQ(script.functions.size(), 3u);
  EXPECT_EQ(script.functions[1].name, "f");
  EXPECT_EQ(script.functions[1].calls(), 4u);
  EXPECT_TRUE(script.functions[1].is_exact);
  EXPECT_FALSE(script.functions[2].is_exact);
  EXPECT_EQ(script.functions[1].ranges[1], (CoveredRange{20, 30, 0}));
}

TEST(Coverage, TheInnermostRangeDecides) {
  const auto scripts = parse_coverage(kReply);
  ASSERT_TRUE(scripts);
  const auto flat = flatten(scripts->front());
  EXPECT_EQ(flat,
            (std::vector<CoveredRange>{
                {0, 10, 1}, {10, 20, 4}, {20, 30, 0}, {30, 50, 4}, {50, 60, 1}, {60, 80, 0}, {80, 100, 1}}));
  EXPECT_EQ(count_units(flat), (CoveredUnits{70, 100}));
  // Another thread ran what this one did not.
  auto both = flat;
  both.push_back({60, 80, 1});
  EXPECT_EQ(count_units(both), (CoveredUnits{90, 100}));
}

TEST(Coverage, SurvivesEveryPrefixAndNonsense) {
  for (std::size_t length = 0; length < kReply.size(); ++length) {
    const auto scripts = parse_coverage(std::string_view(kReply).substr(0, length));
    if (!scripts) continue;
    for (const CoveredScript& script : *scripts) (void)count_units(flatten(script));
  }
  // Ranges that overlap, are empty, or end before they begin.
  CoveredScript script;
  script.functions.push_back({"x", {{0, 10, 1}, {5, 20, 0}, {4'294'967'290u, 4'294'967'295u, 1}}, false});
  script.functions.push_back({"y", {{7, 9, 2}}, true});
  const CoveredUnits units = count_units(flatten(script));
  EXPECT_LE(units.run, units.all);
  EXPECT_TRUE(parse_coverage(R"({"id":1,"result":{"result":[]}})"));
}

}  // namespace
}  // namespace nodescope
