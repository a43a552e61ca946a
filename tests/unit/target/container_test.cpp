#include "target/container.h"

#include <gtest/gtest.h>

namespace nodescope {
namespace {

const std::string kId = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

TEST(Container, InnermostPid) {
  EXPECT_EQ(parse_innermost_pid("Name:\tnode\nNSpid:\t21197\t1\nNSpgid:\t21197\t1\n"), 1);
  EXPECT_EQ(parse_innermost_pid("Name:\tnode\nNSpid:\t21197\n"), 21197);
  EXPECT_EQ(parse_innermost_pid("Name:\tNSpid:\t7\n"), std::nullopt);
  EXPECT_EQ(parse_innermost_pid(""), std::nullopt);
}

TEST(Container, IdOfEveryEngine) {
  EXPECT_EQ(parse_container_id("0::/system.slice/docker-" + kId + ".scope\n"), kId);
  EXPECT_EQ(parse_container_id("12:cpu:/docker/" + kId + "\n0::/\n"), kId);
  EXPECT_EQ(parse_container_id("0::/libpod_parent/libpod-" + kId + "\n"), kId);
  EXPECT_EQ(parse_container_id("0::/kubepods.slice/kubepods-pod1234.slice/cri-containerd-" + kId + ".scope"),
            kId);
}

TEST(Container, NoIdOutside) {
  EXPECT_EQ(parse_container_id("0::/user.slice/user-1000.slice/session-2.scope\n"), std::nullopt);
  EXPECT_EQ(parse_container_id("0::/docker/" + kId + "0\n"), std::nullopt);
  EXPECT_EQ(parse_container_id("0::/docker/" + kId.substr(1) + "\n"), std::nullopt);
}

TEST(Container, InnerPidNamespace) {
  EXPECT_TRUE(is_in_inner_pid_namespace("Name:\tnode\nNSpid:\t21197\t1\n"));
  EXPECT_FALSE(is_in_inner_pid_namespace("Name:\tnode\nNSpid:\t21197\n"));
  EXPECT_FALSE(is_in_inner_pid_namespace(""));
}

TEST(Container, PodOfBothDrivers) {
  constexpr std::string_view kPod = "0f1e2d3c-aaaa-bbbb-cccc-001122334455";
  EXPECT_EQ(parse_pod_id("0::/kubepods/burstable/pod" + std::string(kPod) + "/" + kId), kPod);
  EXPECT_EQ(parse_pod_id("0::/kubepods.slice/kubepods-burstable.slice/"
                         "kubepods-burstable-pod0f1e2d3c_aaaa_bbbb_cccc_001122334455.slice/x.scope"),
            kPod);
  EXPECT_EQ(parse_pod_id("0::/podman/user-pod.slice"), std::nullopt);
  EXPECT_EQ(parse_pod_id("0::/pod"), std::nullopt);
}

TEST(Container, CgroupPaths) {
  EXPECT_EQ(parse_cgroup_paths("12:cpu,cpuacct:/a:b\n1:name=systemd:/a:b\n0::/\nnonsense\n5:x:/c"),
            (std::vector<std::string>{"/a:b", "/c"}));
  EXPECT_TRUE(parse_cgroup_paths("").empty());
  EXPECT_EQ(container_name_in("/machine.slice/machine-db.scope"), "machine-db");
  EXPECT_EQ(container_name_in("/kf"), "kf");
}

}  // namespace
}  // namespace nodescope
