#include "os/network.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <span>
#include <thread>

#include "base/text.h"
#include "os/procfs.h"

namespace nodescope {

namespace {

constexpr std::string_view kListening = "0A";

// "0100007F" or four such words: each in the byte order of the machine.
std::optional<std::string> parse_address(std::string_view hex) {
  if (hex.size() != 8 && hex.size() != 32) return std::nullopt;
  std::array<std::uint32_t, 4> words{};
  for (std::size_t i = 0; i < hex.size() / 8; ++i) {
    const auto word = parse_number<std::uint32_t>(hex.substr(i * 8, 8), 16);
    if (!word) return std::nullopt;
    words[i] = *word;
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int family = hex.size() == 8 ? AF_INET : AF_INET6;
  if (::inet_ntop(family, words.data(), text.data(), text.size()) == nullptr) return std::nullopt;
  return std::string(text.data());
}

std::vector<std::string_view> split_fields(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin == std::string_view::npos) return fields;
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    fields.push_back(line.substr(begin, end - begin));
    line.remove_prefix(end);
  }
}

// "  0: 0100007F:240D 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000  0 48213 1 …"
std::optional<ListeningSocket> parse_line(std::string_view line) {
  const auto fields = split_fields(line);
  if (fields.size() < 10 || fields[3] != kListening) return std::nullopt;
  const std::size_t colon = fields[1].find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  auto address = parse_address(fields[1].substr(0, colon));
  const auto port = parse_number<std::uint16_t>(fields[1].substr(colon + 1), 16);
  const auto inode = parse_number<std::uint64_t>(fields[9]);
  if (!address || !port || !inode) return std::nullopt;
  return ListeningSocket{std::move(*address), *port, *inode};
}

// The inodes of the sockets among the open files of a process.
Result<std::vector<std::uint64_t>> socket_inodes(pid_t pid) {
  constexpr std::string_view kPrefix = "socket:[";
  const std::string folder = fmt::format("/proc/{}/fd", pid);
  std::error_code error;
  std::vector<std::uint64_t> inodes;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;
    const std::string link = std::filesystem::read_symlink(entry->path(), gone).string();
    if (gone || !link.starts_with(kPrefix)) continue;
    const auto number = std::string_view(link).substr(kPrefix.size());
    if (const auto inode = parse_number<std::uint64_t>(number.substr(0, number.find(']'))))
      inodes.push_back(*inode);
  }
  if (error) return fail_errno(error.value(), "reading " + folder);
  std::ranges::sort(inodes);
  return inodes;
}

struct SocketAddress {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

// A host name would need a resolver, which a static program does not have.
std::optional<SocketAddress> parse_socket_address(const std::string& host, std::uint16_t port) {
  SocketAddress result;
  sockaddr_in v4{.sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {}, .sin_zero = {}};
  if (::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
    std::memcpy(&result.bytes, &v4, sizeof v4);
    result.size = sizeof v4;
    return result;
  }
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  if (::inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) != 1) return std::nullopt;
  std::memcpy(&result.bytes, &v6, sizeof v6);
  result.size = sizeof v6;
  return result;
}

// 0, or errno.
int finish_connecting(int socket, std::chrono::milliseconds timeout) {
  pollfd waiting{socket, POLLOUT, 0};
  const int ready = ::poll(&waiting, 1, static_cast<int>(timeout.count()));
  if (ready == 0) return ETIMEDOUT;
  if (ready < 0) return errno;
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

}  // namespace

std::vector<ListeningSocket> parse_listening_sockets(std::string_view table) {
  std::vector<ListeningSocket> sockets;
  while (!table.empty()) {
    const std::size_t end = std::min(table.find('\n'), table.size());
    if (auto socket = parse_line(table.substr(0, end))) sockets.push_back(std::move(*socket));
    table.remove_prefix(std::min(end + 1, table.size()));
  }
  return sockets;
}

std::vector<ListeningSocket> list_listeners_around(pid_t pid) {
  std::vector<ListeningSocket> sockets;
  for (const std::string_view table : {"net/tcp", "net/tcp6"}) {
    const auto text = read_proc_file(pid, table);
    if (!text) continue;
    std::ranges::move(parse_listening_sockets(*text), std::back_inserter(sockets));
  }
  return sockets;
}

Result<std::vector<ListeningSocket>> list_listeners_of(pid_t pid) {
  const auto inodes = socket_inodes(pid);
  if (!inodes) return std::unexpected(inodes.error());
  auto sockets = list_listeners_around(pid);
  std::erase_if(sockets, [&](const ListeningSocket& socket) {
    return !std::ranges::binary_search(*inodes, socket.inode);
  });
  return sockets;
}

Result<FileDescriptor> connect_beside(pid_t pid, const std::string& address, std::uint16_t port,
                                      std::chrono::milliseconds timeout) {
  const auto own = read_proc_link(own_pid(), "ns/net");
  const auto other = read_proc_link(pid, "ns/net");
  if (!other) return std::unexpected(other.error());
  if (own && *own == *other) return connect_to(address, port, timeout);
  const std::string path = fmt::format("/proc/{}/ns/net", pid);
  const FileDescriptor name_space(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!name_space.is_open()) return fail_errno(errno, "opening " + path);
  // A thread of its own, because a thread cannot be trusted to come back from another namespace.
  Result<FileDescriptor> connected;
  std::thread([&] {
    if (::setns(name_space.get(), CLONE_NEWNET) != 0) {
      connected = fail_errno(errno, fmt::format("entering the network of process {} (needs root)", pid));
      return;
    }
    connected = connect_to(address, port, timeout);
  }).join();
  return connected;
}

Result<FileDescriptor> connect_to(const std::string& host, std::uint16_t port,
                                  std::chrono::milliseconds timeout) {
  const std::string attempt = fmt::format("connecting to {}:{}", host, port);
  const auto address = parse_socket_address(host == "localhost" ? "127.0.0.1" : host, port);
  if (!address) return fail(ErrorCode::kUsage, attempt + ": give an IP address instead of a name");
  FileDescriptor socket(::socket(address->bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return fail_errno(errno, attempt);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address->bytes), address->size) == 0)
    return socket;
  int error = errno;
  if (error == EINPROGRESS) error = finish_connecting(socket.get(), timeout);
  if (error != 0) return fail_errno(error, attempt);
  return socket;
}

bool is_readable(const FileDescriptor& socket) {
  pollfd waiting{socket.get(), POLLIN | POLLRDHUP, 0};
  return ::poll(&waiting, 1, 0) > 0;
}

}  // namespace nodescope
