#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "os/file.h"

namespace nodescope::net {

// The client's side of a WebSocket that carries text.  The peer may be anything: a message of more than the
// limit, a broken frame and silence are errors, and after an error there is nothing more.
class WebSocket {
 public:
  static Result<WebSocket> connect(FileDescriptor socket, const std::string& host, const std::string& path,
                                   std::chrono::milliseconds timeout, std::size_t message_limit);
  WebSocket(WebSocket&&) noexcept;
  WebSocket& operator=(WebSocket&&) noexcept;
  // Without the farewell of the protocol: whoever wants that calls close().
  ~WebSocket();

  Result<void> send(std::string_view text, std::chrono::milliseconds timeout);
  // The next message; nothing where none was complete in time.
  Result<std::optional<std::string>> receive(std::chrono::milliseconds timeout);
  // Says goodbye and waits at most so long for the answer.
  void close(std::chrono::milliseconds timeout);

 private:
  struct Connection;
  explicit WebSocket(std::unique_ptr<Connection> connection);

  std::unique_ptr<Connection> connection_;
};

}  // namespace nodescope::net
