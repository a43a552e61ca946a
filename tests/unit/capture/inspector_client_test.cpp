#include "capture/inspector_client.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "unit/net/raw_peer.h"

namespace nodescope {
namespace {

using net::agreement;
using net::frame;
using net::Peer;
using net::read_request;
using net::say;
using std::chrono::milliseconds;

// A client of a peer that agrees, and then says these messages at once.
class InspectorClientTest : public ::testing::Test {
 protected:
  InspectorClient client_of(std::vector<std::string> messages, bool stays = false) {
    peer_.emplace([messages = std::move(messages), stays](int end) {
      say(end, agreement(read_request(end)));
      for (const std::string& message : messages) say(end, frame(message));
      char byte = 0;
      while (stays && ::read(end, &byte, 1) > 0) {
      }
    });
    auto socket = net::WebSocket::connect(peer_->take(), "h", "/", milliseconds(5000), 1 << 20);
    EXPECT_TRUE(socket) << socket.error().message;
    return InspectorClient(std::move(*socket));
  }

  std::optional<Peer> peer_;
};

TEST_F(InspectorClientTest, FindsTheReplyAmongOthers) {
  auto client = client_of({R"({"method":"Debugger.scriptParsed","params":{}})", R"({"id":99,"result":{}})",
                           "junk", R"({"id":1,"result":{"a":1}})"},
                          true);
  const auto reply = client.call("Profiler.enable");
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(*reply, R"({"id":1,"result":{"a":1}})");
}

TEST_F(InspectorClientTest, KeepsRepliesThatComeInAnotherOrder) {
  auto client = client_of({R"({"id":2,"result":{"second":1}})", R"({"id":1,"result":{"first":1}})"}, true);
  const auto first = client.send("A.a");
  const auto second = client.send("B.b");
  ASSERT_TRUE(first && second);
  EXPECT_EQ(client.await(*first).value_or(""), R"({"id":1,"result":{"first":1}})");
  EXPECT_EQ(client.await(*second).value_or(""), R"({"id":2,"result":{"second":1}})");
}

TEST_F(InspectorClientTest, TalksToWorkers) {
  auto client = client_of(
      {R"({"method":"NodeWorker.attachedToWorker","params":{"sessionId":"7","workerInfo":{"title":"W"}}})",
       R"({"id":1,"result":{}})",
       R"({"method":"NodeWorker.receivedMessageFromWorker","params":{"sessionId":"8","message":"{\"id\":2,\"result\":{}}"}})",
       R"({"method":"NodeWorker.receivedMessageFromWorker","params":{"sessionId":"7","message":"{\"id\":2,\"result\":{\"own\":1}}"}})",
       R"({"method":"NodeWorker.detachedFromWorker","params":{"sessionId":"7"}})"},
      true);
  ASSERT_TRUE(client.follow_workers());
  ASSERT_EQ(client.workers().size(), 1u);
  EXPECT_EQ(client.workers()[0].title, "W");
  const auto call = client.send("Profiler.stop", "{}", "7");
  ASSERT_TRUE(call);
  EXPECT_EQ(client.await(*call).value_or(""), R"({"id":2,"result":{"own":1}})");
  // One that has ended keeps nobody waiting.
  const auto late = client.send("Profiler.stop", "{}", "7");
  ASSERT_TRUE(late);
  EXPECT_FALSE(client.await(*late, milliseconds(60'000)));
  EXPECT_TRUE(client.workers()[0].ended);
}

TEST_F(InspectorClientTest, EndsInTime) {
  auto client = client_of({}, true);
  EXPECT_FALSE(client.call("Profiler.enable", "{}", milliseconds(50)));
  client.give_up_when([] { return true; });
  EXPECT_FALSE(client.call("Profiler.enable", "{}", milliseconds(60'000)));
}

TEST_F(InspectorClientTest, SaysWhyACallWasRefused) {
  auto client = client_of({R"({"id":1,"error":{"code":-32601,"message":"'X' wasn't found"}})"}, true);
  const auto refused = client.call("X");
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("wasn't found"), std::string::npos);
}

TEST(InspectorMessage, FindsWhatAReplyHolds) {
  const std::string reply =
      R"({"id":5,"result":{"other":[1,{}],"profile": {"nodes":[{"id":1}],"x":"\"}"} }})";
  EXPECT_EQ(text_in_result(reply, "profile"), R"({"nodes":[{"id":1}],"x":"\"}"})");
  EXPECT_FALSE(text_in_result(reply, "absent"));
  for (std::size_t length = 0; length < reply.size(); ++length) {
    const auto part = text_in_result(reply.substr(0, length), "profile");
    if (part && length < reply.size() - 3) ADD_FAILURE() << length << *part;
    (void)parse_inspector_message(reply.substr(0, length));
    (void)parse_worker_event(reply.substr(0, length));
  }
  EXPECT_EQ(parse_snapshot_chunk(R"({"method":"m","params":{"chunk":"a\n\"b"}})"), "a\n\"b");
  EXPECT_FALSE(parse_snapshot_chunk(R"({"method":"m","params":{"chunk":7}})"));
}

}  // namespace
}  // namespace nodescope
