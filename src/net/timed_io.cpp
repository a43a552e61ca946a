#include "net/timed_io.h"

#include <fcntl.h>
#include <sys/socket.h>

namespace nodescope::net {

Result<boost::beast::tcp_stream> to_stream(boost::asio::io_context& context, FileDescriptor socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    return fail(ErrorCode::kSystem, "the connection is not usable");
  using boost::asio::ip::tcp;
  tcp::socket taken(context);
  boost::system::error_code error;
  // Asio closes what it was given, and so does `socket`.
  const int copy = ::fcntl(socket.get(), F_DUPFD_CLOEXEC, 0);
  if (copy < 0 || taken.assign(address.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(), copy, error))
    return fail(ErrorCode::kSystem, "taking over a connection: " + error.message());
  return boost::beast::tcp_stream(std::move(taken));
}

}  // namespace nodescope::net
