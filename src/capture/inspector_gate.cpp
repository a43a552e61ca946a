#include "capture/inspector_gate.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <thread>
#include <utility>

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
// A worker of a cluster gets the signal from its primary.
constexpr milliseconds kWorkerOpeningTime{2'000};
constexpr milliseconds kClosingTime{5'000};
constexpr milliseconds kEndingTime{2'000};
constexpr milliseconds kPause{10};
constexpr std::size_t kMaxListBytes = std::size_t{1} << 20;
constexpr std::string_view kMarkPrefix = "inspector-";
// Nothing of the user's is evaluated: this is the only way that V8's protocol has to close the port again.
constexpr std::string_view kCloseIt = "process._debugEnd()";

std::string host_of(const ListeningSocket& socket) {
  if (socket.address == "0.0.0.0") return "127.0.0.1";
  if (socket.address == "::") return "::1";
  return socket.address;
}

std::optional<ProcessStat> stat_of(pid_t pid) {
  const auto text = read_proc_file(pid, "stat");
  return text ? parse_process_stat(*text) : std::nullopt;
}

std::string mark_name(pid_t pid, std::uint64_t start_ticks) {
  return fmt::format("{}{}-{}", kMarkPrefix, pid, start_ticks);
}

InspectorPlace place_of(pid_t pid) {
  const auto command_line = read_proc_file(pid, "cmdline");
  const auto environment = read_proc_file(pid, "environ");
  return inspector_place_of(command_line.value_or(""), environment.value_or(""));
}

Result<FileDescriptor> connect_socket(pid_t pid, const InspectorAddress& address) {
  return pid == 0 ? connect_to(address.host, address.port, kConnectTime)
                  : connect_beside(pid, address.host, address.port, kConnectTime);
}

Result<std::string> ask_for_target(pid_t pid, const InspectorAddress& address) {
  auto socket = connect_socket(pid, address);
  if (!socket) return std::unexpected(socket.error());
  const auto answer =
      net::http_get(std::move(*socket), host_with_port(address), "/json/list", kProbeTime, kMaxListBytes);
  if (!answer) return std::unexpected(answer.error());
  auto path = parse_target_path(*answer);
  if (!path) return fail(ErrorCode::kInvalidInput, "its answer is not that of an inspector");
  return std::move(*path);
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

// SIGUSR1 would open the inspector of this process, and do nothing else.
Result<void> check_signal_is_nodes(pid_t pid) {
  const auto handler = find_usr1_handler(pid);
  if (!handler) return std::unexpected(handler.error());
  if (*handler != Usr1Handler::kNode)
    return fail(ErrorCode::kUnsupported, std::string(why_not_by_signal(*handler)));
  return {};
}

// Node.js passes SIGUSR1 on to the workers of a cluster.
std::vector<pid_t> cluster_workers_of(pid_t pid) {
  std::vector<pid_t> workers;
  for (const pid_t other : list_processes().value_or(std::vector<pid_t>())) {
    const auto stat = stat_of(other);
    if (!stat || stat->parent != pid) continue;
    const auto environment = read_proc_file(other, "environ");
    if (environment && parse_launch_marks(*environment).cluster_worker) workers.push_back(other);
  }
  return workers;
}

bool is_taken(std::uint16_t port, pid_t pid) {
  const auto around = list_listeners_around(pid);
  return port != 0 && std::ranges::find(around, port, &ListeningSocket::port) != around.end();
}

bool is_open(pid_t pid, const InspectorAddress& address) {
  const auto sockets = list_listeners_of(pid);
  return sockets && std::ranges::any_of(*sockets, [&](const ListeningSocket& socket) {
           return socket.port == address.port && host_of(socket) == address.host;
         });
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

}  // namespace

InspectorGate::InspectorGate(InspectorGate&& other) noexcept
    : pid_(other.pid_),
      address_(std::move(other.address_)),
      is_exposed_(other.is_exposed_),
      configured_port_(other.configured_port_),
      was_left_open_(other.was_left_open_),
      opened_at_(std::exchange(other.opened_at_, std::nullopt)),
      open_time_(other.open_time_),
      mark_(std::exchange(other.mark_, std::nullopt)),
      workers_(std::move(other.workers_)) {}

InspectorGate::~InspectorGate() {
  [[maybe_unused]] const auto closed = close();  // whoever wants to know calls it himself
}

Result<InspectorGate> InspectorGate::open(pid_t pid, InspectorPort port) {
  InspectorGate gate(pid);
  if (gate.find_open()) {
    if (auto taken = gate.take_over_left_open(); !taken) return std::unexpected(taken.error());
    return gate;
  }
  const InspectorPlace place = place_of(pid);
  const auto attempt = [&] { return fmt::format("opening the inspector of process {}", pid); };
  if (auto opened = gate.open_by_signal(place); !opened) return fail(opened.error(), attempt());
  if (port == InspectorPort::kConfigured || place.port == 0) return gate;
  if (auto moved = gate.move_to_free_port(place); !moved) return fail(moved.error(), attempt());
  return gate;
}

Result<InspectorGate> InspectorGate::at(const InspectorAddress& address) {
  InspectorGate gate(0);
  gate.address_ = address;
  if (address.path.empty()) {
    auto path = ask_for_target(0, address);
    if (!path)
      return fail(path.error(), fmt::format("looking for an inspector at {}", host_with_port(address)));
    gate.address_.path = std::move(*path);
  }
  return gate;
}

// A socket that others can reach is asked only if it is on the port where the inspector would be: it is most
// likely the program's own server.
bool InspectorGate::find_open() {
  auto sockets = list_listeners_of(pid_);
  if (!sockets) return false;
  const std::uint16_t expected = place_of(pid_).port;
  std::ranges::stable_partition(*sockets,
                                [&](const ListeningSocket& socket) { return socket.port == expected; });
  for (const ListeningSocket& socket : *sockets) {
    if (socket.port != expected && !socket.is_loopback()) continue;
    InspectorAddress address{host_of(socket), socket.port, {}};
    auto path = ask_for_target(pid_, address);
    if (!path) continue;
    address.path = std::move(*path);
    address_ = std::move(address);
    is_exposed_ = !socket.is_loopback();
    return true;
  }
  return false;
}

bool InspectorGate::await_open(milliseconds timeout) {
  const auto end = Clock::now() + timeout;
  while (is_running(pid_)) {
    if (find_open()) return true;
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(kPause);
  }
  return false;
}

// It has to be put back from now on, by whoever finds the mark.
Result<void> InspectorGate::mark() {
  const auto stat = stat_of(pid_);
  if (!stat) return fail(ErrorCode::kNotFound, "it has ended");
  auto mark = RunMark::create(mark_name(pid_, stat->start_ticks));
  if (!mark) return std::unexpected(mark.error());
  mark_.emplace(std::move(*mark));
  return {};
}

Result<void> InspectorGate::take_over_left_open() {
  const auto stat = stat_of(pid_);
  if (!stat || !has_mark(mark_name(pid_, stat->start_ticks))) return {};
  if (auto marked = mark(); !marked) return marked;
  was_left_open_ = true;
  opened_at_ = Clock::now();
  return {};
}

// Those that will open their inspectors with this one: each is checked and marked as if it were opened alone.
Result<void> InspectorGate::expect_workers(const InspectorPlace& place) {
  for (const pid_t pid : cluster_workers_of(pid_)) {
    if (std::ranges::find(workers_, pid, &InspectorGate::pid_) != workers_.end()) continue;
    InspectorGate worker(pid);
    if (worker.find_open()) continue;
    const std::string attempt = fmt::format("its cluster's worker {} would get SIGUSR1 too", pid);
    if (auto checked = check_signal_is_nodes(pid); !checked) return fail(checked.error(), attempt);
    const InspectorPlace own = place_of(pid);
    // It will say so on its standard error, and open nothing.
    if (own.port != 0 && (own.port == place.port || is_taken(own.port, pid))) continue;
    if (auto marked = worker.mark(); !marked) return fail(marked.error(), attempt);
    workers_.push_back(std::move(worker));
  }
  return {};
}

Result<void> InspectorGate::open_by_signal(const InspectorPlace& place) {
  if (auto checked = check_signal_is_nodes(pid_); !checked) return checked;
  if (!place.is_loopback()) {
    return fail(
        ErrorCode::kUnsupported,
        fmt::format("SIGUSR1 would open it on {}, where other machines could connect (--inspect-port)",
                    printable(place.host)));
  }
  if (is_taken(place.port, pid_)) {
    return fail(
        ErrorCode::kLimit,
        fmt::format("port {} is taken by another program, perhaps by the inspector of another process",
                    place.port));
  }
  if (!mark_) {
    if (auto marked = mark(); !marked) return marked;
  }
  auto expected = expect_workers(place);
  if (expected) expected = send_signal(pid_, SIGUSR1);
  if (!expected) {
    for (InspectorGate& worker : workers_) worker.mark_->remove();
    workers_.clear();
    mark_->remove();
    mark_.reset();
    return expected;
  }
  opened_at_ = Clock::now();
  for (InspectorGate& worker : workers_) worker.opened_at_ = opened_at_;
  if (!await_open(kOpeningTime)) {
    return fail(ErrorCode::kSystem,
                fmt::format("it did not open within {} s, and may do so later (its main thread waits in a "
                            "system call); nodescope doctor closes it then",
                            kOpeningTime.count() / 1000));
  }
  for (InspectorGate& worker : workers_) {
    if (worker.address_.port == 0) worker.await_open(kWorkerOpeningTime);
  }
  if (is_exposed_) return fail(ErrorCode::kUnsupported, "it opened where other machines could connect");
  return {};
}

// Node.js opens it where process.debugPort says: it is closed, and opened again after that was set.
Result<void> InspectorGate::move_to_free_port(InspectorPlace place) {
  configured_port_ = address_.port;
  const auto opened_at = opened_at_;
  if (auto closed = close_here(fmt::format("process.debugPort=0;{}", kCloseIt)); !closed) return closed;
  address_ = {};
  place.port = 0;
  auto opened = open_by_signal(place);
  opened_at_ = opened_at;
  return opened;
}

Result<InspectorClient> InspectorGate::connect() const {
  auto socket = connect_socket(pid_, address_);
  if (!socket) return std::unexpected(socket.error());
  auto web_socket = net::WebSocket::connect(std::move(*socket), host_with_port(address_), address_.path,
                                            kConnectTime, InspectorClient::kMaxMessageBytes);
  if (!web_socket) return std::unexpected(web_socket.error());
  return InspectorClient(std::move(*web_socket));
}

Result<void> InspectorGate::close_here(std::string_view expression) {
  auto client = connect();
  if (!client) return std::unexpected(client.error());
  const auto asked =
      client->call("Runtime.evaluate", fmt::format(R"({{"expression":"{}","silent":true}})", expression));
  // The answer is often lost with the connection.
  if (!asked && asked.error().code != ErrorCode::kNotFound) return std::unexpected(asked.error());
  return await_closed(pid_, address_);
}

Result<void> InspectorGate::close() {
  if (!opened_at_) return {};
  const auto opened_at = *std::exchange(opened_at_, std::nullopt);
  Result<void> result;
  const auto end = Clock::now() + kEndingTime;
  while (expects_end_ && is_running(pid_) && Clock::now() < end) std::this_thread::sleep_for(kPause);
  for (InspectorGate& worker : workers_) {
    if (auto closed = worker.close(); !closed) result = std::move(closed);
  }
  // One that did not open in time is left to doctor: the mark stays.
  if (is_running(pid_) && address_.port == 0 && !find_open()) return result;
  if (is_running(pid_)) {
    const std::string port =
        configured_port_ ? fmt::format("process.debugPort={};", *configured_port_) : std::string();
    const auto closed = close_here(port + std::string(kCloseIt));
    if (!closed && is_running(pid_))
      return fail(closed.error(), fmt::format("closing the inspector of process {}", pid_));
  }
  open_time_ = std::chrono::duration_cast<milliseconds>(Clock::now() - opened_at);
  if (mark_) mark_->remove();
  mark_.reset();
  return result;
}

std::vector<OpenedInspector> find_left_open() {
  std::vector<OpenedInspector> left;
  for (const std::string& name : list_abandoned_marks(std::string(kMarkPrefix))) {
    const std::string_view numbers = std::string_view(name).substr(kMarkPrefix.size());
    const std::size_t dash = std::min(numbers.find('-'), numbers.size());
    const auto pid = parse_number<pid_t>(numbers.substr(0, dash));
    const auto start = parse_number<std::uint64_t>(numbers.substr(std::min(dash + 1, numbers.size())));
    const auto stat = pid ? stat_of(*pid) : std::nullopt;
    if (stat && start && stat->start_ticks == *start) {
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
    // It may have been moved from where the options of the process have it.
    const std::uint16_t port = place_of(opened.pid).port;
    const std::string put_back =
        gate.address_.port == port ? std::string() : fmt::format("process.debugPort={};", port);
    if (auto closed = gate.close_here(put_back + std::string(kCloseIt)); !closed) return closed;
  }
  remove_abandoned_mark(mark_name(opened.pid, opened.start_ticks));
  return {};
}

}  // namespace nodescope
