#include "app/server/request.h"

#include <gmock/gmock.h>

namespace nodescope::server {
namespace {

const std::string kToken(32, 'a');
const std::string kKey(32, 'b');

class RouteTest : public ::testing::Test {
 protected:
  std::expected<Route, Refusal> ask(const std::string& target) {
    request_.target = target;
    return route(request_, gate_);
  }
  std::expected<Route, Refusal> ask_below(const std::string& rest) { return ask("/" + kToken + "/" + rest); }
  unsigned status(const std::expected<Route, Refusal>& reply) { return reply ? 200 : reply.error().status; }

  Gate gate_{kToken, kKey, 4000};
  RequestHead request_{"GET", "/", "127.0.0.1:4000", std::nullopt, false};
};

TEST_F(RouteTest, EveryResourceHasOnePath) {
  EXPECT_EQ(ask_below(""), (Route{Resource::kPage, 0, "", ""}));
  EXPECT_EQ(ask_below("?view=flame"), (Route{Resource::kPage, 0, "", ""}));
  EXPECT_EQ(ask("/" + kToken), (Route{Resource::kPageWithoutSlash, 0, "", ""}));
  EXPECT_EQ(ask_below("recordings"), (Route{Resource::kRecordingList, 0, "", ""}));
  EXPECT_EQ(ask_below("recordings/0"), (Route{Resource::kRecording, 0, "", ""}));
  EXPECT_EQ(ask_below("recordings/12"), (Route{Resource::kRecording, 12, "", ""}));
  EXPECT_EQ(ask_below("heap?view=about&class=3"),
            (Route{Resource::kHeapAnswer, 0, "", "", "view=about&class=3"}));
  EXPECT_EQ(ask_below("source?path=%2Fapp%2Fa+b%2B.js"), (Route{Resource::kSource, 0, "/app/a b+.js", ""}));
  EXPECT_EQ(ask_below("source?path=%2Fa.ts&of=file%3A%2F%2F%2Fa.js"),
            (Route{Resource::kSource, 0, "/a.ts", "file:///a.js"}));
}

TEST_F(RouteTest, HeadIsAnsweredLikeGetAndNothingElseIs) {
  request_.method = "HEAD";
  EXPECT_EQ(status(ask_below("recordings")), 200u);
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "CONNECT", "TRACE", "get", "PRI", ""}) {
    request_.method = method;
    EXPECT_EQ(status(ask_below("recordings")), 405u) << method;
  }
}

TEST_F(RouteTest, ABodyIsRefused) {
  request_.has_body = true;
  EXPECT_EQ(status(ask_below("")), 413u);
  request_.method = "POST";
  EXPECT_EQ(status(ask_below("recordings")), 413u);
}

TEST_F(RouteTest, AnotherTokenIsForbidden) {
  for (const char* target :
       {"/", "/favicon.ico", "/recordings", "//recordings", "/?", "/aaaa/", "/../etc/passwd"}) {
    EXPECT_EQ(status(ask(target)), 403u) << target;
  }
  EXPECT_EQ(status(ask("/" + std::string(31, 'a') + "/")), 403u);
  EXPECT_EQ(status(ask("/" + std::string(33, 'a') + "/")), 403u);
  EXPECT_EQ(status(ask("/" + std::string(31, 'a') + "A/")), 403u);
  EXPECT_EQ(status(ask("//" + kToken + "/")), 403u);
  EXPECT_EQ(status(ask("/x/../" + kToken + "/")), 403u);
}

TEST_F(RouteTest, WithoutATokenNobodyIsLetIn) {
  gate_ = {"", "", 4000};
  EXPECT_EQ(status(ask("/")), 403u);
  EXPECT_EQ(status(ask("//")), 403u);
}

TEST_F(RouteTest, TheOpeningKeyOpensNothingButThePage) {
  EXPECT_EQ(ask("/" + kKey + "/"), (Route{Resource::kOpening, 0, "", ""}));
  EXPECT_EQ(status(ask("/" + kKey + "/recordings")), 403u);
  EXPECT_EQ(status(ask("/" + kKey + "/?a")), 403u);
  EXPECT_EQ(status(ask("/" + kKey)), 403u);
  request_.method = "HEAD";
  EXPECT_EQ(status(ask("/" + kKey + "/")), 403u);
  request_.method = "GET";
  gate_.opening_key.clear();
  EXPECT_EQ(status(ask("/" + kKey + "/")), 403u);
}

TEST_F(RouteTest, TheHostMustBeThisMachineWithThisPort) {
  request_.host = "localhost:4000";
  EXPECT_EQ(status(ask_below("")), 200u);
  for (const char* host : {"", "127.0.0.1", "localhost", "127.0.0.1:4001", "127.0.0.1:40000",
                           "127.0.0.1:4000.evil.org", "evil.org:4000", "127.0.0.1:04000", "0.0.0.0:4000",
                           "[::1]:4000", "127.1:4000", "localhost:4000 ", "user@127.0.0.1:4000"}) {
    request_.host = host;
    EXPECT_EQ(status(ask_below("")), 403u) << host;
  }
  request_.host.reset();
  EXPECT_EQ(status(ask_below("")), 403u);
}

TEST_F(RouteTest, AnOriginMustBeOurOwn) {
  for (const char* origin : {"http://127.0.0.1:4000", "http://localhost:4000"}) {
    request_.origin = origin;
    EXPECT_EQ(status(ask_below("recordings")), 200u) << origin;
  }
  for (const char* origin : {"", "null", "https://127.0.0.1:4000", "http://127.0.0.1", "http://evil.org",
                             "http://127.0.0.1:4000/", "http://127.0.0.1:4000.evil.org", "file://"}) {
    request_.origin = origin;
    EXPECT_EQ(status(ask_below("recordings")), 403u) << origin;
  }
}

TEST_F(RouteTest, PathsAreNotTidiedUp) {
  for (const char* rest : {"../"
                           "aaaa",
                           "./",
                           "..",
                           "%2e%2e/",
                           "%2e%2e%2f",
                           "//",
                           "/",
                           "/recordings",
                           "recordings/",
                           "recordings//0",
                           "recordings/../recordings",
                           "recordings/%30",
                           "recordings/0/",
                           "recordings/00",
                           "recordings/-1",
                           "recordings/+1",
                           "recordings/1e3",
                           "recordings/0?x",
                           "recordings?x",
                           "recordingsX",
                           "recordings/1234567",
                           "recordings/18446744073709551616",
                           "Recordings",
                           "source",
                           "source/?path=/x",
                           "index.html",
                           "\\..\\"}) {
    EXPECT_EQ(status(ask_below(rest)), 404u) << rest;
  }
}

TEST_F(RouteTest, OnlyPathsOfThisServerAreTargets) {
  for (const std::string& target : {std::string(), std::string("*"), "http://127.0.0.1:4000/" + kToken + "/",
                                    kToken + "/", std::string("127.0.0.1:4000")}) {
    EXPECT_EQ(status(ask(target)), 400u) << target;
  }
}

TEST_F(RouteTest, ASourceIsAskedForByOnePath) {
  for (const char* query : {"source?", "source?path=", "source?Path=/x", "source?path=/x&path=/y",
                            "source?x=1&path=/y", "source?path=%", "source?path=%2", "source?path=%zz",
                            "source?path=%00", "source?path=/a%00.js", "source?path=%+1"}) {
    EXPECT_EQ(status(ask_below(query)), 400u) << query;
  }
}

}  // namespace
}  // namespace nodescope::server
