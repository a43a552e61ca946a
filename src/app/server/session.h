#pragma once

#include <array>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/span_body.hpp>
#include <list>
#include <memory>
#include <optional>

#include "app/server/answer.h"

namespace nodescope::server {

class Session;

// What the connections of one server share.
struct Shared {
  Content content;
  Gate gate;
  // Connections that may be closed to make room for others, those that wait longest first.
  std::list<Session*> waiting;
  std::size_t connections = 0;
};

// One connection.  It lives as long as one of its operations is under way.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(boost::asio::ip::tcp::socket socket, Shared& shared);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void await_request();
  void close();

 private:
  using Response = boost::beast::http::response<boost::beast::http::span_body<const char>>;
  using Serializer = boost::beast::http::response_serializer<boost::beast::http::span_body<const char>>;

  void start_waiting();
  void finish_waiting();
  void on_request(boost::beast::error_code error);
  Answer answer_request();
  void send(Answer answer, bool keep_alive);
  void send_rest();
  void drain();

  boost::beast::tcp_stream stream_;
  Shared& shared_;
  std::optional<std::list<Session*>::iterator> place_;  // in Shared::waiting
  boost::beast::flat_buffer buffer_;
  std::optional<boost::beast::http::request_parser<boost::beast::http::empty_body>> parser_;
  Answer answer_;
  std::optional<Response> response_;
  std::optional<Serializer> serializer_;
  std::size_t drained_ = 0;
  std::array<char, 4096> scrap_;
};

}  // namespace nodescope::server
