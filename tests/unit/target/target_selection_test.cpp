#include "target/target_selection.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nodescope {
namespace {

constexpr const char* kId = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

NodeProcess process(pid_t pid, pid_t parent, std::string script) {
  NodeProcess process;
  process.pid = pid;
  process.parent = parent;
  process.invocation.script = std::move(script);
  return process;
}

std::vector<NodeProcess> machine() {
  std::vector<NodeProcess> processes{process(10, 1, "/app/server.js"), process(11, 10, "/app/server.js"),
                                     process(20, 1, "worker[1].js"), process(30, 1, "index.js"),
                                     process(40, 1, "")};
  processes[3].container = kId;
  processes[3].container_name = "web";
  processes[3].pod = "aaaaaaaa-0000-0000-0000-000000000000";
  processes[3].cgroups = {"/kubepods/x", "/other/deep"};
  processes[2].script_path = "/srv/jobs/worker[1].js";
  processes[4].program = "my-service";
  processes[4].invocation.title = "billing";
  processes[4].container = "runc-name";
  processes[4].cgroups = {"/runc-name"};
  return processes;
}

std::vector<pid_t> matches(std::string_view target) {
  const auto processes = machine();
  const auto found = match_target(processes, target);
  std::vector<pid_t> pids;
  if (!found) return {-1};
  for (const NodeProcess* one : *found) pids.push_back(one->pid);
  return pids;
}

using Pids = std::vector<pid_t>;

TEST(MatchTarget, Names) {
  EXPECT_EQ(matches("server"), (Pids{10, 11}));
  EXPECT_EQ(matches("/app/server.js"), (Pids{10, 11}));
  EXPECT_EQ(matches("^/app/.*js$"), (Pids{10, 11}));
  EXPECT_EQ(matches("bill"), (Pids{40}));
  EXPECT_EQ(matches("nothing"), Pids{});
}

TEST(MatchTarget, TheWholePathAndTheProgramsOwnName) {
  EXPECT_EQ(matches("/srv/jobs/worker"), (Pids{20}));
  EXPECT_EQ(matches("^/srv/jobs/"), (Pids{20}));
  EXPECT_EQ(matches("my-service"), (Pids{40}));
}

TEST(MatchTarget, WhatIsNoRegularExpressionIsMeantAsItIs) {
  EXPECT_EQ(matches("worker[1].js"), (Pids{20}));
  EXPECT_EQ(matches("worker["), (Pids{20}));
  EXPECT_EQ(matches("(((("), Pids{});
}

TEST(MatchTarget, Containers) {
  EXPECT_EQ(matches(kId), (Pids{30}));
  EXPECT_EQ(matches("01234567"), (Pids{30}));
  EXPECT_EQ(matches("012"), Pids{});
  EXPECT_EQ(matches("web"), (Pids{30}));
  EXPECT_EQ(matches("aaaaaaaa-0000-0000-0000-000000000000"), (Pids{30}));
  EXPECT_EQ(matches("runc-name"), (Pids{40}));
  EXPECT_EQ(matches("container:server"), Pids{});
}

TEST(MatchTarget, Cgroups) {
  EXPECT_EQ(matches("/kubepods"), (Pids{30}));
  EXPECT_EQ(matches("/kube"), Pids{});
  EXPECT_EQ(matches("/other/deep/"), (Pids{30}));
  EXPECT_EQ(matches("/sys/fs/cgroup/runc-name"), (Pids{40}));
  EXPECT_EQ(matches("/sys/fs/cgroup/memory/runc-name"), (Pids{40}));
  EXPECT_EQ(matches("cgroup:/runc-name"), (Pids{40}));
  EXPECT_EQ(matches("/sys/fs/cgroup"), Pids{});
  EXPECT_EQ(matches("/"), (Pids{10, 11, 20}));  // a slash is in these scripts' names
}

TEST(MatchTarget, NothingIsNoTarget) {
  EXPECT_EQ(matches(""), Pids{-1});
}

TEST(SelectTargets, ByPid) {
  const auto one = select_targets({{std::to_string(::getpid())}, {}, {}});
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_EQ(*one, Pids{::getpid()});
  const auto again = select_targets({{std::to_string(::getpid())}, {::getpid()}, {}});
  ASSERT_TRUE(again);
  EXPECT_EQ(again->size(), 1u);
}

TEST(SelectTargets, Refuses) {
  EXPECT_EQ(select_targets({}).error().code, ErrorCode::kUsage);
  EXPECT_EQ(select_targets({{}, {0x3FFFFFFF}, {}}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(select_targets({{}, {-1}, {}}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(select_targets({{}, {}, ::getpid()}).error().code, ErrorCode::kNotFound);
  const auto nothing = select_targets({{"no such script anywhere"}, {}, {}});
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code, ErrorCode::kNotFound);
}

TEST(SelectTargets, SaysWhyAPatternFindsNothing) {
  const auto broken = select_targets({{"name:(["}, {}, {}});
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message.find("regular expression"), std::string::npos) << broken.error().message;
  const auto good = select_targets({{"name:no such script"}, {}, {}});
  ASSERT_FALSE(good);
  EXPECT_EQ(good.error().message.find("regular expression"), std::string::npos) << good.error().message;
}

TEST(SelectTargets, AProcessThatHasEnded) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t info{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  const auto selected = select_targets({{}, {child}, {}});
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ASSERT_FALSE(selected);
  EXPECT_NE(selected.error().message.find("has ended"), std::string::npos) << selected.error().message;
}

TEST(WhyNotLookedAt, DoesNotTellRootToBecomeRoot) {
  Privileges privileges;
  EXPECT_NE(why_not_looked_at(privileges).find("root"), std::string::npos);
  privileges.capabilities = std::uint64_t{1} << static_cast<unsigned>(Capability::kSysPtrace);
  EXPECT_EQ(why_not_looked_at(privileges).find("root"), std::string::npos);
}

TEST(AssignRoles, ClusterAndPm2) {
  std::vector<NodeProcess> processes = machine();
  processes[1].marks.cluster_worker = true;
  NodeProcess daemon = process(50, 1, "");
  daemon.invocation.title = "PM2 v5.3.0: God Daemon (/root/.pm2)";
  NodeProcess app = process(51, 50, "/srv/a.js");
  app.marks.pm2_id = "0";
  app.marks.forked = true;
  NodeProcess child = process(52, 51, "/srv/b.js");
  child.marks.pm2_id = "0";
  child.marks.forked = true;
  NodeProcess worker = process(53, 50, "/srv/c.js");
  worker.marks.pm2_id = "1";
  worker.marks.cluster_worker = true;
  processes.insert(processes.end(), {daemon, app, child, worker});
  assign_roles(processes);
  std::vector<std::string_view> roles;
  for (const NodeProcess& one : processes) roles.push_back(to_string(one.role));
  EXPECT_EQ(roles, (std::vector<std::string_view>{"cluster master", "cluster worker", "standalone",
                                                  "standalone", "standalone", "pm2 daemon", "pm2 app",
                                                  "forked", "pm2 cluster worker"}));
}

TEST(ListDescendants, HoldsItsRoot) {
  const auto family = list_descendants(::getpid());
  ASSERT_TRUE(family) << family.error().message;
  EXPECT_EQ(family->front(), ::getpid());
  EXPECT_FALSE(list_descendants(0x3FFFFFFF));
}

}  // namespace
}  // namespace nodescope
