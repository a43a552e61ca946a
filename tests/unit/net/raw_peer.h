#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <boost/beast/websocket/detail/hybi13.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "os/file.h"

namespace nodescope::net {

// A peer that says what it wants: the other end of a pair of sockets, and a thread that writes to it.
class Peer {
 public:
  explicit Peer(std::function<void(int)> behaviour) {
    std::array<int, 2> ends{-1, -1};
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) return;
    ours_ = FileDescriptor(ends[0]);
    thread_ = std::thread([end = ends[1], behaviour = std::move(behaviour)] {
      behaviour(end);
      ::close(end);
    });
  }
  ~Peer() {
    if (thread_.joinable()) thread_.join();
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  FileDescriptor take() { return std::move(ours_); }

 private:
  FileDescriptor ours_;
  std::thread thread_;
};

inline std::string read_request(int end) {
  std::string request;
  std::array<char, 1024> buffer{};
  while (request.find("\r\n\r\n") == std::string::npos) {
    const auto count = ::read(end, buffer.data(), buffer.size());
    if (count <= 0) break;
    request.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return request;
}

inline void say(int end, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::send(end, text.data(), text.size(), MSG_NOSIGNAL);
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

// Says it, closes its own side, and listens until the other one has closed too.
inline void say_last(int end, std::string_view text) {
  say(end, text);
  ::shutdown(end, SHUT_WR);
  std::array<char, 1024> ignored{};
  while (::read(end, ignored.data(), ignored.size()) > 0) {
  }
}

// The answer to a request to become a WebSocket.
inline std::string agreement(std::string_view request) {
  constexpr std::string_view kKey = "Sec-WebSocket-Key: ";
  const std::size_t begin = request.find(kKey);
  if (begin == std::string_view::npos) return {};
  const std::string_view key = request.substr(begin + kKey.size());
  boost::beast::websocket::detail::sec_ws_accept_type accept;
  boost::beast::websocket::detail::make_sec_ws_accept(
      accept, boost::beast::string_view(key.data(), key.substr(0, key.find('\r')).size()));
  return "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
         "Sec-WebSocket-Accept: " +
         std::string(accept.data(), accept.size()) + "\r\n\r\n";
}

// A frame as a server sends it: a text, a piece of one (opcode 0), a ping (9).
inline std::string frame(std::string_view payload, unsigned opcode = 1, bool is_final = true) {
  std::string bytes(1, static_cast<char>((is_final ? 0x80u : 0u) | opcode));
  if (payload.size() < 126) {
    bytes += static_cast<char>(payload.size());
  } else {
    const bool is_large = payload.size() > 0xffff;
    bytes += static_cast<char>(is_large ? 127 : 126);
    for (int shift = is_large ? 56 : 8; shift >= 0; shift -= 8)
      bytes += static_cast<char>(static_cast<std::uint64_t>(payload.size()) >> shift & 0xff);
  }
  return bytes.append(payload);
}

}  // namespace nodescope::net
