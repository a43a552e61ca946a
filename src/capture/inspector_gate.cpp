#include "capture/inspector_gate.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <thread>

#include "base/text.h"
#include "net/http_get.h"
#include "os/network.h"
#include "os/procfs.h"
#include "os/send_signal.h"
#include "target/invocation.h"
#include "target/usr1_handler.h"

namespace nodescope {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kConnectTime{2'000};
constexpr milliseconds kProbeTime{1'000};
// The main thread opens it, as soon as it leaves a system call.
constexpr milliseconds kOpeningTime{5'000};
constexpr milliseconds kClosingTime{5'000};
constexpr milliseconds kPause{10};
constexpr std::size_t kMaxListBytes = std::size_t{1} << 20;
constexpr std::uint16_t kUsualPort = 9229;
constexpr std::string_view kMarkPrefix = "inspector-";

bool is_target_id(std::string_view id) {
  return !id.empty() && id.size() <= 64 && std::ranges::all_of(id, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  });
}

std::string host_of(const ListeningSocket& socket) {
  if (socket.address == "0.0.0.0") return "127.0.0.1";
  if (socket.address == "::") return "::1";
  return socket.address;
}

// As in a URL and in the header of a request.
std::string host_with_port(const InspectorAddress& address) {
  const bool is_v6 = address.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", is_v6 ? "[" : "", address.host, is_v6 ? "]" : "", address.port);
}

std::optional<std::uint64_t> start_ticks_of(pid_t pid) {
  const auto text = read_proc_file(pid, "stat");
  const auto stat = text ? parse_process_stat(*text) : std::optional<ProcessStat>();
  return stat ? std::optional(stat->start_ticks) : std::nullopt;
}

std::string mark_name(pid_t pid, std::uint64_t start_ticks) {
  return fmt::format("{}{}-{}", kMarkPrefix, pid, start_ticks);
}

Result<FileDescriptor> connect_socket(pid_t pid, const InspectorAddress& address) {
  return pid == 0 ? connect_to(address.host, address.port, kConnectTime)
                  : connect_beside(pid, address.host, address.port, kConnectTime);
}

std::optional<std::string> ask_for_target(pid_t pid, const InspectorAddress& address) {
  auto socket = connect_socket(pid, address);
  if (!socket) return std::nullopt;
  const auto answer =
      net::http_get(std::move(*socket), host_with_port(address), "/json/list", kProbeTime, kMaxListBytes);
  return answer ? parse_target_path(*answer) : std::nullopt;
}

std::string_view why_not_by_signal(Usr1Handler handler) {
  switch (handler) {
    case Usr1Handler::kNode:
      return "";
    case Usr1Handler::kNone:
      return "it does not handle SIGUSR1, which would end it (--disable-sigusr1, or it is only starting)";
    case Usr1Handler::kIgnored:
      return "it ignores SIGUSR1";
    case Usr1Handler::kBlocked:
      return "it blocks SIGUSR1";
    case Usr1Handler::kProgram:
      return "the program handles SIGUSR1 itself";
    case Usr1Handler::kUnknown:
      return "whether Node.js itself handles SIGUSR1 cannot be verified: its binary has no symbols";
  }
  return "";
}

bool is_open(pid_t pid, const InspectorAddress& address) {
  const auto sockets = list_listeners_of(pid);
  return sockets && std::ranges::any_of(*sockets, [&](const ListeningSocket& socket) {
           return socket.port == address.port && host_of(socket) == address.host;
         });
}

// Nothing of the user's is evaluated: this is the only way that V8's protocol has to close the port again.
Result<void> ask_to_close(InspectorClient& client) {
  const auto told =
      client.call("Runtime.evaluate", R"json({"expression":"process._debugEnd()","silent":true})json");
  // The answer is often lost with the connection.
  if (!told && told.error().code != ErrorCode::kNotFound) return std::unexpected(told.error());
  return {};
}

Result<void> await_closed(pid_t pid, const InspectorAddress& address) {
  const auto end = Clock::now() + kClosingTime;
  while (is_running(pid) && is_open(pid, address)) {
    if (Clock::now() > end) {
      return fail(ErrorCode::kSystem, fmt::format("the inspector of process {} is still open on {}", pid,
                                                  host_with_port(address)));
    }
    std::this_thread::sleep_for(kPause);
  }
  return {};
}

// The port in "--inspect-port=9300", "--inspect=0.0.0.0:9300", "--inspect=9300".
std::optional<std::uint16_t> port_in_option(std::string_view option) {
  constexpr std::array kNames = {
      "--inspect-port=", "--debug-port=", "--inspect-brk=", "--inspect-wait=", "--inspect="};
  for (const std::string_view name : kNames) {
    if (!option.starts_with(name)) continue;
    const std::string_view value = option.substr(name.size());
    return parse_number<std::uint16_t>(value.substr(value.rfind(':') + 1));
  }
  return std::nullopt;
}

template <typename Use>
void for_each_piece(std::string_view text, char separator, Use&& use) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    use(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

Result<InspectorAddress> parse_inspector_url(std::string_view url) {
  constexpr std::string_view kScheme = "ws://";
  const auto wrong = [&] {
    return fail(
        ErrorCode::kUsage,
        fmt::format("{}: the address of an inspector looks like ws://127.0.0.1:9229/ID", printable(url)));
  };
  if (!url.starts_with(kScheme)) return wrong();
  url.remove_prefix(kScheme.size());
  const std::size_t slash = std::min(url.find('/'), url.size());
  const std::string_view place = url.substr(0, slash);
  const std::size_t colon = place.rfind(':');
  if (colon == std::string_view::npos) return wrong();
  const auto port = parse_number<std::uint16_t>(place.substr(colon + 1));
  std::string_view host = place.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const std::string_view id = url.substr(std::min(slash + 1, url.size()));
  if (!port || host.empty() || (!id.empty() && !is_target_id(id))) return wrong();
  return InspectorAddress{std::string(host), *port, id.empty() ? std::string() : "/" + std::string(id)};
}

std::optional<std::string> parse_target_path(std::string_view answer) {
  boost::system::error_code error;
  const auto parsed = boost::json::parse(answer, error);
  if (error || !parsed.is_array() || parsed.get_array().empty()) return std::nullopt;
  const auto* target = parsed.get_array().front().if_object();
  const auto* id = target != nullptr ? target->if_contains("id") : nullptr;
  const auto* url = target != nullptr ? target->if_contains("type") : nullptr;
  if (id == nullptr || !id->is_string() || url == nullptr || *url != "node") return std::nullopt;
  const std::string_view text = id->get_string();
  return is_target_id(text) ? std::optional("/" + std::string(text)) : std::nullopt;
}

std::uint16_t inspector_port_of(std::string_view command_line, std::string_view environment) {
  std::uint16_t port = kUsualPort;
  constexpr std::string_view kOptions = "NODE_OPTIONS=";
  for_each_piece(environment, '\0', [&](std::string_view variable) {
    if (!variable.starts_with(kOptions)) return;
    for_each_piece(variable.substr(kOptions.size()), ' ',
                   [&](std::string_view option) { port = port_in_option(option).value_or(port); });
  });
  for_each_piece(command_line, '\0',
                 [&](std::string_view option) { port = port_in_option(option).value_or(port); });
  return port;
}

InspectorGate::InspectorGate(InspectorGate&& other) noexcept
    : pid_(other.pid_),
      address_(std::move(other.address_)),
      opened_at_(std::exchange(other.opened_at_, std::nullopt)),
      open_time_(other.open_time_),
      mark_(std::exchange(other.mark_, std::nullopt)) {}

InspectorGate::~InspectorGate() {
  (void)close();  // whoever wants to know calls it himself
}

Result<InspectorGate> InspectorGate::open(pid_t pid) {
  InspectorGate gate(pid);
  if (gate.find_open()) return gate;
  if (auto opened = gate.open_by_signal(); !opened) return std::unexpected(opened.error());
  return gate;
}

Result<InspectorGate> InspectorGate::at(const InspectorAddress& address) {
  InspectorGate gate(0);
  gate.address_ = address;
  if (address.path.empty()) {
    auto path = ask_for_target(0, address);
    if (!path) {
      return fail(ErrorCode::kNotFound, fmt::format("no inspector answers at {}", host_with_port(address)));
    }
    gate.address_.path = std::move(*path);
  }
  return gate;
}

// A socket that others can reach is asked only if it is on the port where the inspector would be: it is most
// likely the program's own server.
bool InspectorGate::find_open() {
  auto sockets = list_listeners_of(pid_);
  if (!sockets) return false;
  const auto command_line = read_proc_file(pid_, "cmdline");
  const auto environment = read_proc_file(pid_, "environ");
  const std::uint16_t expected = inspector_port_of(command_line.value_or(""), environment.value_or(""));
  std::ranges::stable_partition(*sockets,
                                [&](const ListeningSocket& socket) { return socket.port == expected; });
  for (const ListeningSocket& socket : *sockets) {
    if (socket.port != expected && !socket.is_loopback()) continue;
    InspectorAddress address{host_of(socket), socket.port, {}};
    auto path = ask_for_target(pid_, address);
    if (!path) continue;
    address.path = std::move(*path);
    address_ = std::move(address);
    return true;
  }
  return false;
}

Result<void> InspectorGate::open_by_signal() {
  const std::string attempt = fmt::format("opening the inspector of process {}", pid_);
  const auto handler = find_usr1_handler(pid_);
  if (!handler) return fail(handler.error(), attempt);
  if (*handler != Usr1Handler::kNode)
    return fail(ErrorCode::kUnsupported, fmt::format("{}: {}", attempt, why_not_by_signal(*handler)));
  const auto command_line = read_proc_file(pid_, "cmdline");
  const auto environment = read_proc_file(pid_, "environ");
  const std::uint16_t port = inspector_port_of(command_line.value_or(""), environment.value_or(""));
  const auto around = list_listeners_around(pid_);
  if (std::ranges::find(around, port, &ListeningSocket::port) != around.end()) {
    return fail(
        ErrorCode::kLimit,
        fmt::format("{}: port {} is taken by another program, perhaps by the inspector of another process",
                    attempt, port));
  }
  const auto start = start_ticks_of(pid_);
  if (!start) return fail(ErrorCode::kNotFound, fmt::format("{}: it has ended", attempt));
  auto mark = RunMark::create(mark_name(pid_, *start));
  if (!mark) return fail(mark.error(), attempt);
  mark_.emplace(std::move(*mark));
  if (auto sent = send_signal(pid_, SIGUSR1); !sent) {
    mark_->remove();
    mark_.reset();
    return fail(sent.error(), attempt);
  }
  opened_at_ = Clock::now();
  while (Clock::now() - *opened_at_ < kOpeningTime && is_running(pid_)) {
    std::this_thread::sleep_for(kPause);
    if (find_open()) return {};
  }
  return fail(
      ErrorCode::kSystem,
      fmt::format("{}: it did not open within {} s, and may do so later (its main thread waits in a system "
                  "call); nodescope doctor closes it then",
                  attempt, kOpeningTime.count() / 1000));
}

Result<InspectorClient> InspectorGate::connect() const {
  auto socket = connect_socket(pid_, address_);
  if (!socket) return std::unexpected(socket.error());
  auto web_socket = net::WebSocket::connect(std::move(*socket), host_with_port(address_), address_.path,
                                            kConnectTime, InspectorClient::kMaxMessageBytes);
  if (!web_socket) return std::unexpected(web_socket.error());
  return InspectorClient(std::move(*web_socket));
}

Result<void> InspectorGate::close() {
  if (!opened_at_) return {};
  const auto opened_at = *std::exchange(opened_at_, std::nullopt);
  // One that did not open in time is left to doctor: the mark stays.
  if (address_.port == 0) return {};
  if (is_running(pid_)) {
    auto client = connect();
    if (!client) return fail(client.error(), fmt::format("closing the inspector of process {}", pid_));
    if (auto asked = ask_to_close(*client); !asked) return asked;
    if (auto closed = await_closed(pid_, address_); !closed) return closed;
  }
  open_time_ = std::chrono::duration_cast<milliseconds>(Clock::now() - opened_at);
  mark_->remove();
  mark_.reset();
  return {};
}

std::vector<OpenedInspector> find_left_open() {
  std::vector<OpenedInspector> left;
  for (const std::string& name : list_abandoned_marks(std::string(kMarkPrefix))) {
    const std::string_view numbers = std::string_view(name).substr(kMarkPrefix.size());
    const std::size_t dash = std::min(numbers.find('-'), numbers.size());
    const auto pid = parse_number<pid_t>(numbers.substr(0, dash));
    const auto start = parse_number<std::uint64_t>(numbers.substr(std::min(dash + 1, numbers.size())));
    if (pid && start && start_ticks_of(*pid) == *start) {
      left.push_back({*pid, *start});
    } else {
      remove_abandoned_mark(name);
    }
  }
  return left;
}

Result<void> close_left_open(const OpenedInspector& opened) {
  InspectorGate gate(opened.pid);
  if (gate.find_open()) {
    auto client = gate.connect();
    if (!client) return std::unexpected(client.error());
    if (auto asked = ask_to_close(*client); !asked) return asked;
    if (auto closed = await_closed(opened.pid, gate.address_); !closed) return closed;
  }
  remove_abandoned_mark(mark_name(opened.pid, opened.start_ticks));
  return {};
}

}  // namespace nodescope
