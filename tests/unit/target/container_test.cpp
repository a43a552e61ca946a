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

}  // namespace
}  // namespace nodescope
