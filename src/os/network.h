#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "os/file.h"

namespace nodescope {

// A TCP socket that waits for connections, in the words of the network namespace it is in.
struct ListeningSocket {
  std::string address;  // "127.0.0.1", "::1", "0.0.0.0"
  std::uint16_t port = 0;
  std::uint64_t inode = 0;

  // Only programs of the same machine, or the same container, can connect.
  bool is_loopback() const { return address.starts_with("127.") || address == "::1"; }
  bool operator==(const ListeningSocket&) const = default;
};

// The listening sockets of /proc/PID/net/tcp or tcp6.  Lines that make no sense are left out.
std::vector<ListeningSocket> parse_listening_sockets(std::string_view table);

// Everything that listens in the network namespace of a process, whoever it belongs to.
std::vector<ListeningSocket> list_listeners_around(pid_t pid);

// Those that the process itself holds open.
Result<std::vector<ListeningSocket>> list_listeners_of(pid_t pid);

// Connects from inside the network namespace of `pid` to an address there; a loopback address is that of its
// container.
Result<FileDescriptor> connect_beside(pid_t pid, const std::string& address, std::uint16_t port,
                                      std::chrono::milliseconds timeout);

// Connects from here.  `host` is an IP address or "localhost".
Result<FileDescriptor> connect_to(const std::string& host, std::uint16_t port,
                                  std::chrono::milliseconds timeout);

// The other end has closed the connection, or has sent something.
bool is_readable(const FileDescriptor& socket);

}  // namespace nodescope
