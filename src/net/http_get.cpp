#include "net/http_get.h"

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include "net/timed_io.h"

namespace nodescope::net {

namespace beast = boost::beast;
namespace http = boost::beast::http;

Result<std::string> http_get(FileDescriptor socket, const std::string& host, const std::string& path,
                             std::chrono::milliseconds timeout, std::size_t limit) {
  boost::asio::io_context context(1);
  auto stream = to_stream(context, std::move(socket));
  if (!stream) return std::unexpected(stream.error());
  stream->expires_after(timeout);

  http::request<http::empty_body> request(http::verb::get, path, 11);
  request.set(http::field::host, host);
  request.keep_alive(false);
  http::response_parser<http::string_body> answer;
  answer.body_limit(limit);
  beast::flat_buffer buffer(limit + 64 * 1024);
  beast::error_code failed;
  http::async_write(*stream, request, [&](beast::error_code error, std::size_t) {
    failed = error;
    if (error) return;
    http::async_read(*stream, buffer, answer,
                     [&](beast::error_code read_error, std::size_t) { failed = read_error; });
  });
  context.run();
  if (failed) return fail(ErrorCode::kSystem, host + path + ": " + failed.message());
  if (answer.get().result() != http::status::ok)
    return fail(ErrorCode::kInvalidInput,
                host + path + ": it answers " + std::to_string(answer.get().result_int()));
  return std::move(answer.get().body());
}

}  // namespace nodescope::net
