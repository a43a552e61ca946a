#include "net/web_socket.h"

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <deque>

#include "net/timed_io.h"

namespace nodescope::net {

namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;
using Clock = std::chrono::steady_clock;

struct WebSocket::Connection {
  explicit Connection(beast::tcp_stream tcp, std::unique_ptr<boost::asio::io_context> io)
      : context(std::move(io)), stream(std::move(tcp)) {}

  // A moved-from stream still refers to its context: here it is gone before whoever asked can drop the
  // connection.
  static Result<std::unique_ptr<Connection>> open(FileDescriptor socket) {
    auto context = std::make_unique<boost::asio::io_context>(1);
    auto tcp = to_stream(*context, std::move(socket));
    if (!tcp) return std::unexpected(tcp.error());
    return std::make_unique<Connection>(std::move(*tcp), std::move(context));
  }

  boost::asio::io_context& io() { return *context; }

  // Runs what is under way until `done` or the time is over.
  template <typename Done>
  void run_until(Done done, std::chrono::milliseconds timeout) {
    const auto end = Clock::now() + timeout;
    while (!done()) {
      if (io().stopped()) io().restart();
      if (io().run_one_until(end) == 0 && Clock::now() >= end) return;
    }
  }

  // One read is under way at most, so a peer that talks much fills no memory of ours beyond two messages.
  void start_reading() {
    if (reading || failed) return;
    reading = true;
    stream.async_read(incoming, [this](beast::error_code error, std::size_t) {
      reading = false;
      if (error) {
        failed = error;
        return;
      }
      inbox.push_back(beast::buffers_to_string(incoming.data()));
      incoming.clear();
    });
  }

  std::unique_ptr<boost::asio::io_context> context;
  websocket::stream<beast::tcp_stream> stream;
  beast::flat_buffer incoming;
  std::deque<std::string> inbox;
  beast::error_code failed;
  bool reading = false;
};

namespace {

std::unexpected<Error> failure(std::string_view attempt, const beast::error_code& error) {
  if (error == websocket::error::closed || error == boost::asio::error::eof ||
      error == boost::asio::error::connection_reset)
    return fail(ErrorCode::kNotFound, std::string(attempt) + ": the connection was closed");
  if (error == websocket::error::message_too_big)
    return fail(ErrorCode::kLimit, std::string(attempt) + ": the answer is too large");
  return fail(ErrorCode::kSystem, std::string(attempt) + ": " + error.message());
}

}  // namespace

WebSocket::WebSocket(std::unique_ptr<Connection> connection) : connection_(std::move(connection)) {}
WebSocket::WebSocket(WebSocket&&) noexcept = default;
WebSocket& WebSocket::operator=(WebSocket&&) noexcept = default;
WebSocket::~WebSocket() = default;

Result<WebSocket> WebSocket::connect(FileDescriptor socket, const std::string& host, const std::string& path,
                                     std::chrono::milliseconds timeout, std::size_t message_limit) {
  auto opened = Connection::open(std::move(socket));
  if (!opened) return std::unexpected(opened.error());
  const std::unique_ptr<Connection>& connection = *opened;
  connection->stream.read_message_max(message_limit);
  std::optional<beast::error_code> result;
  connection->stream.async_handshake(host, path, [&](beast::error_code error) { result = error; });
  connection->run_until([&] { return result.has_value(); }, timeout);
  if (!result) {
    // The handler refers to this frame: let it run before that is gone.
    connection->stream.next_layer().cancel();
    connection->run_until([&] { return result.has_value(); }, timeout);
    return fail(ErrorCode::kSystem, "opening a WebSocket: no answer in time");
  }
  if (*result) return failure("opening a WebSocket", *result);
  connection->stream.text(true);
  return WebSocket(std::move(*opened));
}

Result<void> WebSocket::send(std::string_view text, std::chrono::milliseconds timeout) {
  Connection& connection = *connection_;
  if (connection.failed) return failure("sending", connection.failed);
  // The peer may want to talk first.
  connection.start_reading();
  const auto kept = std::make_shared<std::string>(text);
  const auto result = std::make_shared<std::optional<beast::error_code>>();
  connection.stream.async_write(boost::asio::buffer(*kept),
                                [kept, result](beast::error_code error, std::size_t) { *result = error; });
  connection.run_until([&] { return result->has_value(); }, timeout);
  if (!*result) connection.failed = boost::asio::error::timed_out;
  if (*result && **result) connection.failed = **result;
  if (connection.failed) return failure("sending", connection.failed);
  return {};
}

Result<std::optional<std::string>> WebSocket::receive(std::chrono::milliseconds timeout) {
  Connection& connection = *connection_;
  if (connection.inbox.empty()) {
    connection.start_reading();
    connection.run_until([&] { return !connection.inbox.empty() || connection.failed; }, timeout);
  }
  if (!connection.inbox.empty()) {
    std::string message = std::move(connection.inbox.front());
    connection.inbox.pop_front();
    return message;
  }
  if (connection.failed) return failure("receiving", connection.failed);
  return std::nullopt;
}

void WebSocket::close(std::chrono::milliseconds timeout) {
  Connection& connection = *connection_;
  if (connection.failed) return;
  const auto result = std::make_shared<bool>(false);
  connection.stream.async_close(websocket::close_code::normal,
                                [result](beast::error_code) { *result = true; });
  connection.run_until([&] { return *result; }, timeout);
  connection.failed = boost::asio::error::eof;
}

}  // namespace nodescope::net
