#include "app/coverage_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nodescope {
namespace {

TEST(CoverageReport, CountsLinesAsV8Does) {
  // "é" is one UTF-16 unit, the emoji two.
  EXPECT_THAT(line_begins_utf16("ab\n\xc3\xa9\n\xf0\x9f\x98\x80\n"), testing::ElementsAre(0, 3, 5, 8, 8));
  EXPECT_THAT(line_begins_utf16(""), testing::ElementsAre(0, 0));
}

ThreadCoverage thread_with(std::uint64_t calls) {
  CoveredScript script{"file:///nowhere/a.js",
                       {{"", {{0, 100, 1}}, true}, {"f", {{10, 50, calls}}, calls != 3}}};
  CoveredScript internal{"node:fs", {{"", {{0, 10, 1}}, true}}};
  return {{}, {std::move(script), std::move(internal)}};
}

TEST(CoverageReport, AddsThreadsUp) {
  const CoverageReport report = derive_coverage_report({thread_with(0), thread_with(3), thread_with(4)}, 2.5);
  EXPECT_EQ(report.threads, 3u);
  EXPECT_EQ(report.internal_scripts, 3u);
  ASSERT_EQ(report.files.size(), 1u);
  const FileCoverage& file = report.files[0];
  EXPECT_EQ(file.file, "/nowhere/a.js");
  ASSERT_EQ(file.functions.size(), 2u);
  EXPECT_EQ(file.functions[0].name, "(script)");
  EXPECT_EQ(file.functions[1].calls, 7u);
  EXPECT_EQ(file.functions_run(), 2u);
  EXPECT_EQ(file.units_run, 100u);
  EXPECT_FALSE(file.units);
  const std::string text = coverage_text(report);
  EXPECT_THAT(text, testing::HasSubstr("2 functions in 1 files ran in 2.5 s, in 3 threads"));
  EXPECT_THAT(text, testing::HasSubstr(">= 7  f"));
  StringSink sink;
  ASSERT_TRUE(write_coverage_json(report, sink));
  EXPECT_THAT(sink.text(),
              testing::HasSubstr(R"("name":"f","line":null,"column":null,"calls":7,"exact":false)"));
}

}  // namespace
}  // namespace nodescope
