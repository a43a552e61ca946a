#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "base/result.h"
#include "os/file.h"

namespace nodescope::net {

// The body that the peer of `socket` answers a GET with, if it says 200 and sends at most `limit` bytes
// within `timeout`. `host` is what the peer is called in the request.
Result<std::string> http_get(FileDescriptor socket, const std::string& host, const std::string& path,
                             std::chrono::milliseconds timeout, std::size_t limit);

}  // namespace nodescope::net
