#include "target/invocation.h"

#include <gtest/gtest.h>

namespace nodescope {
namespace {

using namespace std::string_view_literals;

std::string script(std::string_view command_line) {
  return parse_invocation(command_line).script;
}

TEST(ProcessStat, NamesMayHoldAnything) {
  const auto stat = parse_process_stat(
      "4711 (a) (b c) S 12 4711 4711 0 -1 4194304 1 2 3 4 250 50 0 0 20 0 11 0 98765 1000000 2048 0 1 2\n");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->name, "a) (b c");
  EXPECT_EQ(stat->parent, 12);
  EXPECT_EQ(stat->cpu_ticks, 300u);
  EXPECT_EQ(stat->threads, 11u);
  EXPECT_EQ(stat->start_ticks, 98765u);
  EXPECT_EQ(stat->resident_pages, 2048u);
  EXPECT_FALSE(stat->is_kernel);
}

TEST(ProcessStat, ThreadsOfTheKernelAreTold) {
  const auto stat =
      parse_process_stat("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 4 0 0 0 0 0\n");
  ASSERT_TRUE(stat);
  EXPECT_TRUE(stat->is_kernel);
}

TEST(ProcessStat, EveryPrefixIsSafe) {
  constexpr std::string_view kLine =
      "4711 (node) S 12 4711 4711 0 -1 4194304 1 2 3 4 250 50 0 0 20 0 11 0 98765 1000000 2048 0 1 2\n";
  for (std::size_t size = 0; size < kLine.size(); ++size) parse_process_stat(kLine.substr(0, size));
  EXPECT_FALSE(parse_process_stat(""));
  EXPECT_FALSE(parse_process_stat(") ("));
  EXPECT_FALSE(parse_process_stat("1 (a)"));
  EXPECT_FALSE(parse_process_stat("1 (a) S x"));
}

TEST(Invocation, TheScriptIsTheFirstArgumentThatIsNoOption) {
  EXPECT_EQ(script("node\0/app/server.js\0--port\00080\0"sv), "/app/server.js");
  EXPECT_EQ(script("node\0--max-old-space-size=512\0server.js\0"sv), "server.js");
  EXPECT_EQ(script("node\0-r\0dotenv/config\0--import\0./hook.mjs\0server.js\0"sv), "server.js");
  EXPECT_EQ(script("node\0--require=./a.js\0server.js\0"sv), "server.js");
  EXPECT_EQ(script("node\0--\0-server.js\0"sv), "-server.js");
  EXPECT_EQ(script("node\0inspect\0server.js\0"sv), "server.js");
  EXPECT_EQ(script("node\0-e\0for (;;);\0"sv), "[eval]");
  EXPECT_EQ(script("node\0--eval=1\0"sv), "[eval]");
  EXPECT_EQ(script("node\0--run\0build\0"sv), "[run build]");
  EXPECT_EQ(script("node\0-\0"sv), "[stdin]");
  EXPECT_EQ(script("node\0--inspect\0"sv), "");
}

TEST(Invocation, ATitleTakesThePlaceOfTheArguments) {
  EXPECT_EQ(parse_invocation("my service\0\0\0\0\0"sv), (Invocation{"", "my service"}));
  EXPECT_EQ(parse_invocation("node /app/server.js  \0"sv), (Invocation{"", "node /app/server.js"}));
  EXPECT_EQ(parse_invocation("title without an end"), (Invocation{"", "title without an end"}));
}

TEST(Invocation, NothingOrTooMuch) {
  EXPECT_EQ(parse_invocation(""), Invocation{});
  EXPECT_EQ(parse_invocation(std::string(100, '\0')), Invocation{});
  std::string many = "node";
  for (int i = 0; i < 100'000; ++i) many += std::string_view("\0-a", 3);
  EXPECT_EQ(parse_invocation(many).script, "");
}

TEST(LaunchMarks, ClusterAndFork) {
  EXPECT_TRUE(parse_launch_marks("A=1\0NODE_UNIQUE_ID=3\0NODE_CHANNEL_FD=3\0"sv).cluster_worker);
  EXPECT_TRUE(parse_launch_marks("NODE_CHANNEL_FD=3\0"sv).forked);
  EXPECT_EQ(parse_launch_marks("PATH=/bin\0XNODE_UNIQUE_ID=1\0name=me\0"sv), LaunchMarks{});
}

TEST(LaunchMarks, Pm2InBothModes) {
  const LaunchMarks fork = parse_launch_marks("name=api\0pm_id=0\0pm_exec_path=/app/api.js\0"sv);
  EXPECT_EQ(fork.pm2_id, "0");
  EXPECT_EQ(fork.pm2_name, "api");
  EXPECT_EQ(fork.pm2_script, "/app/api.js");
  const LaunchMarks cluster = parse_launch_marks(
      "NODE_UNIQUE_ID=1\0pm2_env={\"name\":\"api\",\"pm_id\":12,\"pm_exec_path\":\"/app/api.js\"}\0"sv);
  EXPECT_EQ(cluster.pm2_id, "12");
  EXPECT_EQ(cluster.pm2_name, "api");
  EXPECT_EQ(cluster.pm2_script, "/app/api.js");
}

TEST(LaunchMarks, DamagedEnvironments) {
  parse_launch_marks("pm2_env={\"pm_id\":");
  parse_launch_marks("pm2_env={\"name\":\"a\\\"b");
  parse_launch_marks("=\0==\0\0\0NODE_UNIQUE_ID"sv);
}

}  // namespace
}  // namespace nodescope
