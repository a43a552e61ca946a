#include "capture/inspector_place.h"

#include <gtest/gtest.h>

#include <string>

namespace nodescope {
namespace {

TEST(InspectorPlace, ReadsAddresses) {
  const auto plain = parse_inspector_url("ws://127.0.0.1:9229/0f2c-ab");
  ASSERT_TRUE(plain);
  EXPECT_EQ(*plain, (InspectorAddress{"127.0.0.1", 9229, "/0f2c-ab"}));
  EXPECT_EQ(parse_inspector_url("ws://[::1]:9229")->host, "::1");
  EXPECT_EQ(parse_inspector_url("ws://localhost:80/")->path, "");
  for (const char* wrong :
       {"http://127.0.0.1:9229/", "ws://127.0.0.1", "ws://h:99999/", "ws://h:1/a b", "ws://:1/"})
    EXPECT_FALSE(parse_inspector_url(wrong)) << wrong;
}

TEST(InspectorPlace, FindsTheTarget) {
  EXPECT_EQ(parse_target_path(R"([{"id":"0f2c-ab","type":"node"}])"), "/0f2c-ab");
  for (const char* wrong :
       {"", "{}", "[]", "[1]", R"([{"id":"a/../b","type":"node"}])", R"([{"id":"a","type":"page"}])",
        R"([{"id":7,"type":"node"}])", R"([{"type":"node"}])"})
    EXPECT_FALSE(parse_target_path(wrong)) << wrong;
}

TEST(InspectorPlace, IsKnownFromTheOptions) {
  using namespace std::string_literals;
  EXPECT_EQ(inspector_place_of("node\0app.js\0"s, "HOME=/\0"s), InspectorPlace());
  EXPECT_EQ(inspector_place_of("node\0--inspect-port=9300\0app.js\0"s, "").port, 9300);
  EXPECT_EQ(inspector_place_of("node\0--inspect-port\0"
                               "9300\0app.js\0"s,
                               "")
                .port,
            9300);
  EXPECT_EQ(inspector_place_of("node\0--inspect=0.0.0.0:9301\0app.js\0"s, ""),
            (InspectorPlace{"0.0.0.0", 9301}));
  EXPECT_EQ(inspector_place_of("node\0--inspect-port=[::1]:9301\0app.js\0"s, ""),
            (InspectorPlace{"::1", 9301}));
  EXPECT_EQ(inspector_place_of("node\0--inspect-port=[::]\0app.js\0"s, ""), (InspectorPlace{"::", 9229}));
  EXPECT_EQ(inspector_place_of("node\0app.js\0"s, "NODE_OPTIONS=--no-warnings --inspect-port=9302\0"s).port,
            9302);
  // The arguments decide over the environment, and an option without a value changes nothing.
  EXPECT_EQ(
      inspector_place_of("node\0--inspect\0--inspect-port=1\0"s, "NODE_OPTIONS=--inspect-port=2\0"s).port, 1);
  EXPECT_EQ(inspector_place_of("node\0--inspect-port=junk:x\0--inspect\0"s, ""), InspectorPlace());
}

TEST(InspectorPlace, SaysWhoCanConnect) {
  for (const char* own : {"127.0.0.1", "127.8.8.8", "::1", "localhost"})
    EXPECT_TRUE((InspectorPlace{own, 1}.is_loopback())) << own;
  for (const char* other : {"0.0.0.0", "::", "10.0.0.1", "example.org"})
    EXPECT_FALSE((InspectorPlace{other, 1}.is_loopback())) << other;
}

}  // namespace
}  // namespace nodescope
