#include "app/server/session.h"

#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <chrono>

namespace nodescope::server {

namespace beast = boost::beast;
namespace http = boost::beast::http;

namespace {

// The page's own requests have a few hundred bytes; a path in /source may be long.
constexpr std::uint32_t kMaxHeaderBytes = 16 * 1024;
// For all of a request, however slowly its bytes arrive.
constexpr std::chrono::seconds kRequestTime{10};
// For any progress with an answer: a recording may go through a slow tunnel.
constexpr std::chrono::seconds kSendTime{30};
// A client that was refused gets so much time and room to read why before the connection ends.
constexpr std::chrono::seconds kDrainTime{2};
constexpr std::size_t kMaxDrained = 64u << 20;

template <typename Request>
std::optional<std::string_view> only_value(const Request& request, http::field field) {
  if (request.count(field) != 1) return std::nullopt;
  return request[field];
}

RequestHead head_of(const http::request_parser<http::empty_body>& parser) {
  const auto& request = parser.get();
  RequestHead head;
  head.method = request.method_string();
  head.target = request.target();
  head.host = only_value(request, http::field::host);
  if (request.count(http::field::origin) != 0)
    head.origin = only_value(request, http::field::origin).value_or("");
  head.has_body = parser.chunked() || parser.content_length().value_or(0) != 0;
  return head;
}

Refusal refusal_of(beast::error_code error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow)
    return {431, "The header of this request is too large."};
  if (error == http::error::body_limit) return {413, "No request here has a body."};
  return {400, "This request is not understood."};
}

bool is_worth_an_answer(beast::error_code error) {
  return error.category() == http::make_error_code(http::error::bad_method).category() &&
         error != http::error::end_of_stream && error != http::error::partial_message;
}

void set_headers(http::fields& fields, const std::string& policy, const Answer& answer) {
  fields.set(http::field::content_type, answer.type);
  if (!answer.encoding.empty()) fields.set(http::field::content_encoding, answer.encoding);
  if (!answer.location.empty()) fields.set(http::field::location, answer.location);
  if (answer.status == 405) fields.set(http::field::allow, "GET, HEAD");
  fields.set(http::field::cache_control, "no-store");
  fields.set("Content-Security-Policy", policy);
  fields.set("X-Content-Type-Options", "nosniff");
  fields.set("X-Frame-Options", "DENY");
  fields.set("Referrer-Policy", "no-referrer");
  fields.set("Cross-Origin-Opener-Policy", "same-origin");
  fields.set("Cross-Origin-Resource-Policy", "same-origin");
}

}  // namespace

Session::Session(boost::asio::ip::tcp::socket socket, Shared& shared)
    : stream_(std::move(socket)), shared_(shared), buffer_(kMaxHeaderBytes * 2) {
  ++shared_.connections;
}

Session::~Session() {
  finish_waiting();
  --shared_.connections;
}

void Session::await_request() {
  parser_.emplace();
  parser_->header_limit(kMaxHeaderBytes);
  // A body is refused when the header announces it, by answer_request.
  parser_->body_limit(boost::none);
  start_waiting();
  stream_.expires_after(kRequestTime);
  http::async_read_header(
      stream_, buffer_, *parser_,
      [self = shared_from_this()](beast::error_code error, std::size_t) { self->on_request(error); });
}

void Session::close() {
  finish_waiting();
  stream_.close();
}

void Session::start_waiting() {
  place_ = shared_.waiting.insert(shared_.waiting.end(), this);
}

void Session::finish_waiting() {
  if (place_) shared_.waiting.erase(*place_);
  place_.reset();
}

void Session::on_request(beast::error_code error) {
  finish_waiting();
  if (error && !is_worth_an_answer(error)) return;
  Answer answer = error ? server::answer(refusal_of(error)) : answer_request();
  const bool keep_alive = !error && answer.status < 400 && parser_->get().keep_alive();
  send(std::move(answer), keep_alive);
}

Answer Session::answer_request() {
  const auto route = server::route(head_of(*parser_), shared_.gate);
  if (!route) return server::answer(route.error());
  if (route->resource == Resource::kOpening) shared_.gate.opening_key.clear();
  const bool takes_gzip = parser_->get()[http::field::accept_encoding].find("gzip") != std::string_view::npos;
  return shared_.content.answer(*route, shared_.gate, takes_gzip);
}

void Session::send(Answer answer, bool keep_alive) {
  answer_ = std::move(answer);
  const std::string_view body = answer_.body();
  const bool is_head = parser_->get().method() == http::verb::head;
  response_.emplace(static_cast<http::status>(answer_.status), 11);
  set_headers(*response_, shared_.content.policy(), answer_);
  response_->keep_alive(keep_alive);
  response_->content_length(body.size());
  if (!is_head) response_->body() = {body.data(), body.size()};
  serializer_.emplace(*response_);
  send_rest();
}

void Session::send_rest() {
  stream_.expires_after(kSendTime);
  http::async_write_some(
      stream_, *serializer_, [self = shared_from_this()](beast::error_code error, std::size_t) {
        if (error) return;
        if (!self->serializer_->is_done()) return self->send_rest();
        if (self->response_->keep_alive()) return self->await_request();
        if (self->stream_.socket().shutdown(boost::asio::ip::tcp::socket::shutdown_send, error)) return;
        self->stream_.expires_after(kDrainTime);
        self->start_waiting();
        self->drain();
      });
}

// Closing a connection with unread bytes takes the answer away from the client.
void Session::drain() {
  stream_.async_read_some(boost::asio::buffer(scrap_),
                          [self = shared_from_this()](beast::error_code error, std::size_t count) {
                            self->drained_ += count;
                            if (!error && self->drained_ < kMaxDrained) self->drain();
                          });
}

}  // namespace nodescope::server
