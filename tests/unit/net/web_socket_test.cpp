#include "net/web_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <string>
#include <thread>

#include "net/http_get.h"

// A peer that says what it wants: the other end of a pair of sockets, and a thread that writes to it.
namespace nodescope::net {
namespace {

using std::chrono::milliseconds;

class Peer {
 public:
  explicit Peer(std::function<void(int)> behaviour) {
    std::array<int, 2> ends{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    ours_ = FileDescriptor(ends[0]);
    thread_ = std::thread([end = ends[1], behaviour = std::move(behaviour)] {
      behaviour(end);
      ::close(end);
    });
  }
  ~Peer() { thread_.join(); }
  FileDescriptor take() { return std::move(ours_); }

 private:
  FileDescriptor ours_;
  std::thread thread_;
};

std::string read_request(int end) {
  std::string request;
  std::array<char, 1024> buffer{};
  while (request.find("\r\n\r\n") == std::string::npos) {
    const auto count = ::read(end, buffer.data(), buffer.size());
    if (count <= 0) break;
    request.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return request;
}

void say(int end, std::string_view text) {
  [[maybe_unused]] const auto written = ::send(end, text.data(), text.size(), MSG_NOSIGNAL);
}

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

}  // namespace
}  // namespace nodescope::net
