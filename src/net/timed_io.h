#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <chrono>

#include "base/result.h"
#include "os/file.h"

namespace nodescope::net {

// Takes over a connected socket.
Result<boost::beast::tcp_stream> to_stream(boost::asio::io_context& context, FileDescriptor socket);

}  // namespace nodescope::net
