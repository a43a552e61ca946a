#include "net/web_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <string>

#include "net/http_get.h"
#include "unit/net/raw_peer.h"

namespace nodescope::net {
namespace {

using std::chrono::milliseconds;

TEST(HttpGet, GivesTheBody) {
  Peer peer([](int end) {
    read_request(end);
    say(end, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]");
  });
  const auto body = http_get(peer.take(), "127.0.0.1:9229", "/json/list", milliseconds(5000), 100);
  ASSERT_TRUE(body) << body.error().message;
  EXPECT_EQ(*body, "[]");
}

TEST(HttpGet, EndsWhateverThePeerSays) {
  const std::string large =
      "HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n" + std::string(100'000, 'x');
  for (const std::string& answer :
       {std::string(), std::string("garbage\r\n\r\n"), std::string("HTTP/1.1 404 No\r\n\r\n"), large,
        std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n")}) {
    Peer peer([&](int end) {
      read_request(end);
      say(end, answer);
    });
    EXPECT_FALSE(http_get(peer.take(), "h", "/", milliseconds(5000), 1000));
  }
}

TEST(HttpGet, GivesUpOnSilence) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  const FileDescriptor silent(ends[1]);
  EXPECT_FALSE(http_get(FileDescriptor(ends[0]), "h", "/", milliseconds(50), 1000));
}

TEST(WebSocket, RefusesAPeerThatIsNone) {
  for (const std::string& answer :
       {std::string("HTTP/1.1 200 OK\r\n\r\n"), std::string("\xff\xff\xff\xff"),
        std::string("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
                    "Connection: Upgrade\r\nSec-WebSocket-Accept: wrong\r\n\r\n")}) {
    Peer peer([&](int end) {
      read_request(end);
      say(end, answer);
    });
    EXPECT_FALSE(WebSocket::connect(peer.take(), "h", "/", milliseconds(5000), 1000));
  }
}

TEST(WebSocket, GivesUpOnSilence) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  const FileDescriptor silent(ends[1]);
  EXPECT_FALSE(WebSocket::connect(FileDescriptor(ends[0]), "h", "/", milliseconds(50), 1000));
}

// What a client receives from a peer that agrees, says `bytes` and closes.
Result<std::optional<std::string>> receive_from(const std::string& bytes, std::size_t limit = 1 << 20) {
  Peer peer([&](int end) {
    say(end, agreement(read_request(end)));
    say_last(end, bytes);
  });
  auto socket = WebSocket::connect(peer.take(), "h", "/", milliseconds(5000), limit);
  if (!socket) return std::unexpected(socket.error());
  return socket->receive(milliseconds(5000));
}

TEST(WebSocket, TakesFramesOfEverySize) {
  for (const std::size_t size : {0, 1, 125, 126, 127, 65'535, 65'536, 300'000}) {
    const std::string text(size, 'x');
    const auto received = receive_from(frame(text));
    ASSERT_TRUE(received && *received) << size;
    EXPECT_EQ(**received, text);
  }
}

TEST(WebSocket, PutsFragmentsTogether) {
  std::string bytes;
  for (int i = 0; i < 100; ++i) bytes += frame("ab", i == 0 ? 1 : 0, i == 99) + frame("ping", 9);
  const auto received = receive_from(bytes);
  ASSERT_TRUE(received && *received);
  EXPECT_EQ((*received)->size(), 200u);
}

TEST(WebSocket, RefusesWhatAServerMayNotSend) {
  std::string masked = frame("abcd");
  masked[1] = static_cast<char>(masked[1] | 0x80);
  for (const std::string& bytes :
       {masked + "mask", frame("x", 3), frame("x", 0), frame(std::string(126, 'x'), 9), frame("\xff\xfe"),
        std::string("\xf1\x01x"), std::string("\x81\x7f\x7f\xff\xff\xff\xff\xff\xff\xff"), std::string()})
    EXPECT_FALSE(receive_from(bytes)) << bytes;
  EXPECT_FALSE(receive_from(frame(std::string(2000, 'x')), 1000));
  EXPECT_FALSE(receive_from(frame(std::string(900, 'x'), 1, false) + frame(std::string(900, 'x'), 0), 1000));
}

TEST(WebSocket, SurvivesAPeerThatClosesAtEveryByte) {
  const std::string bytes = frame("ab", 1, false) + frame("c", 0) + frame(std::string(200, 'x'));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const auto received = receive_from(bytes.substr(0, length));
    if (received && *received) {
      EXPECT_EQ(**received, "abc") << length;
    }
  }
  // In its answer to the request as well.
  const std::size_t answer = agreement("Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n").size();
  for (std::size_t length = 0; length < answer; ++length) {
    Peer peer([&](int end) { say(end, agreement(read_request(end)).substr(0, length)); });
    EXPECT_FALSE(WebSocket::connect(peer.take(), "h", "/", milliseconds(5000), 1000)) << length;
  }
}

}  // namespace
}  // namespace nodescope::net
