#include "formats/node_report/node_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "app/node_report_text.h"
#include "support/profiles.h"

namespace nodescope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string& golden() {
  static const std::string text = testing::read_test_file("tests/golden/node-report/node22/input");
  return text;
}

NodeReport read(std::string_view text) {
  MemorySource source(text, "report.json");
  auto report = read_node_report(source);
  EXPECT_TRUE(report) << report.error().message;
  return report ? std::move(*report) : NodeReport();
}

TEST(NodeReport, ReadsWhatNodeWrites) {
  ASSERT_TRUE(is_node_report(golden()));
  const NodeReport report = read(golden());
  EXPECT_EQ(report.header_value("nodejsVersion"), "v22.23.3");
  EXPECT_EQ(report.header_value("trigger"), "API");
  EXPECT_EQ(report.message, "Error: cannot reach the database");
  EXPECT_THAT(report.javascript_stack.front(), HasSubstr("at inner (/srv/app/server.js"));
  EXPECT_THAT(report.native_stack[1].symbol, HasSubstr("node::TriggerNodeReport("));
  EXPECT_EQ(report.heap_spaces.size(), 11u);
  EXPECT_TRUE(report.diagnostics.entries().empty());
  std::size_t listening = 0;
  for (const NodeReport::Handle& handle : report.handles) {
    if (handle.type == "tcp" && handle.remote.empty() && handle.is_active) {
      EXPECT_THAT(handle.local, HasSubstr("127.0.0.1:"));
      ++listening;
    }
  }
  EXPECT_EQ(listening, 1u);
}

TEST(NodeReport, IsAPageOfText) {
  const std::string text = node_report_text(read(golden()));
  for (const std::string_view part :
       {"node          v22.23.3\n", "JavaScript stack\n  Error: cannot reach the database\n    at inner (",
        "Native stack\n", "  used  committed  space\n", "old_space\n", "CPU, user",
        "Handles of libuv that keep the process alive\n  timer       fires in ",
        ", 127.0.0.1:", "others, inactive"}) {
    EXPECT_THAT(text, HasSubstr(std::string(part)));
  }
  EXPECT_THAT(text, Not(HasSubstr("SECRET"))) << "no environment variables";
  StringSink json;
  ASSERT_TRUE(write_node_report_json(read(golden()), json));
  EXPECT_THAT(json.text(), HasSubstr("\"message\":\"Error: cannot reach the database\""));
  EXPECT_THAT(json.text(), Not(HasSubstr("SECRET")));
}

TEST(NodeReport, EveryPrefixIsSafe) {
  for (std::size_t size = 0; size < golden().size(); size += 7) {
    MemorySource source(std::string_view(golden()).substr(0, size), "cut.json");
    if (const auto report = read_node_report(source)) node_report_text(*report);
  }
}

TEST(NodeReport, NamesAreNotTrusted) {
  const NodeReport report =
      read(R"({"header":{"reportVersion":3,"cwd":"\u001b[2Jx","commandLine":["a\u0007"]}})");
  EXPECT_THAT(node_report_text(report), Not(HasSubstr("\x1B")));
  MemorySource empty(std::string_view("{}"), "empty.json");
  EXPECT_FALSE(read_node_report(empty));
}

}  // namespace
}  // namespace nodescope
