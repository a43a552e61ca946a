#include "capture/inspector_gate.h"

#include <gtest/gtest.h>

#include <string>

namespace nodescope {
namespace {

TEST(InspectorGate, ReadsAddresses) {
  const auto plain = parse_inspector_url("ws://127.0.0.1:9229/0f2c-ab");
  ASSERT_TRUE(plain);
  EXPECT_EQ(*plain, (InspectorAddress{"127.0.0.1", 9229, "/0f2c-ab"}));
  EXPECT_EQ(parse_inspector_url("ws://[::1]:9229")->host, "::1");
  EXPECT_EQ(parse_inspector_url("ws://localhost:80/")->path, "");
  for (const char* wrong :
       {"http://127.0.0.1:9229/", "ws://127.0.0.1", "ws://h:99999/", "ws://h:1/a b", "ws://:1/"})
    EXPECT_FALSE(parse_inspector_url(wrong)) << wrong;
}

TEST(InspectorGate, FindsTheTarget) {
  EXPECT_EQ(parse_target_path(R"([{"id":"0f2c-ab","type":"node"}])"), "/0f2c-ab");
  for (const char* wrong :
       {"", "{}", "[]", "[1]", R"([{"id":"a/../b","type":"node"}])", R"([{"id":"a","type":"page"}])",
        R"([{"id":7,"type":"node"}])", R"([{"type":"node"}])"})
    EXPECT_FALSE(parse_target_path(wrong)) << wrong;
}

TEST(InspectorGate, KnowsThePortFromTheOptions) {
  using namespace std::string_literals;
  EXPECT_EQ(inspector_port_of("node\0app.js\0"s, "HOME=/\0"s), 9229);
  EXPECT_EQ(inspector_port_of("node\0--inspect-port=9300\0app.js\0"s, ""), 9300);
  EXPECT_EQ(inspector_port_of("node\0--inspect=0.0.0.0:9301\0app.js\0"s, ""), 9301);
  EXPECT_EQ(inspector_port_of("node\0app.js\0"s, "NODE_OPTIONS=--no-warnings --inspect-port=9302\0"s), 9302);
}

}  // namespace
}  // namespace nodescope
