#include "app/server/server.h"

#include <fmt/format.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <csignal>
#include <exception>

#include "app/note.h"
#include "app/server/session.h"
#include "os/random.h"

namespace nodescope::server {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

constexpr std::size_t kTokenBytes = 16;
constexpr std::size_t kMaxConnections = 64;
constexpr std::chrono::milliseconds kPauseAfterFailure{100};
constexpr std::chrono::milliseconds kPauseUntilRoom{10};

}  // namespace

class Server::Listener {
 public:
  explicit Listener(Recordings recordings)
      : shared_{Content(std::move(recordings)), {}, {}, 0},
        context_(1),
        acceptor_(context_),
        pause_(context_),
        signals_(context_),
        children_(context_) {}

  Result<void> open(std::uint16_t port) {
    const tcp::endpoint endpoint(asio::ip::address_v4::loopback(), port);
    boost::system::error_code error;
    if (acceptor_.open(endpoint.protocol(), error) ||
        acceptor_.set_option(tcp::acceptor::reuse_address(true), error) || acceptor_.bind(endpoint, error) ||
        acceptor_.listen(asio::socket_base::max_listen_connections, error)) {
      return fail(ErrorCode::kSystem, fmt::format("listening on 127.0.0.1:{}: {}", port, error.message()));
    }
    auto token = random_hex(kTokenBytes);
    if (!token) return std::unexpected(token.error());
    shared_.gate.token = std::move(*token);
    shared_.gate.port = acceptor_.local_endpoint().port();
    // As soon as somebody knows the address.  SIGHUP stays as it is: ignored under nohup.
    for (const int number : {SIGINT, SIGTERM}) signals_.add(number);
    signals_.async_wait([this](boost::system::error_code, int) { context_.stop(); });
    return {};
  }

  Gate& gate() { return shared_.gate; }

  void when_a_child_ends(std::function<void()> told) {
    child_ended_ = std::move(told);
    children_.add(SIGCHLD);
    await_child();
    // One may have ended before anybody listened.
    asio::post(context_, child_ended_);
  }

  void run() {
    accept();
    while (!context_.stopped()) {
      try {
        context_.run();
      } catch (const std::exception& failure) {
        // Memory for one answer: its connection ends, the others go on.
        note("nodescope: a request failed: {}\n", failure.what());
      }
    }
  }

 private:
  void await_child() {
    children_.async_wait([this](boost::system::error_code error, int) {
      if (error) return;
      child_ended_();
      await_child();
    });
  }

  void accept() {
    acceptor_.async_accept([this](boost::system::error_code error, tcp::socket socket) {
      if (error) return accept_later();
      admit(std::move(socket));
    });
  }

  // While all connections are being answered, the next client waits, and those after it in the kernel's
  // queue.
  void admit(tcp::socket socket) {
    if (make_room()) {
      std::make_shared<Session>(std::move(socket), shared_)->await_request();
      return accept();
    }
    pause_.expires_after(kPauseUntilRoom);
    pause_.async_wait([this, waiting = std::move(socket)](boost::system::error_code) mutable {
      admit(std::move(waiting));
    });
  }

  // No descriptor was free: some will be.
  void accept_later() {
    pause_.expires_after(kPauseAfterFailure);
    pause_.async_wait([this](boost::system::error_code) { accept(); });
  }

  // Clients that connect and say nothing cannot keep others out.
  bool make_room() {
    if (shared_.connections < kMaxConnections) return true;
    if (shared_.waiting.empty()) return false;
    shared_.waiting.front()->close();
    return true;
  }

  Shared shared_;
  asio::io_context context_;
  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
  asio::signal_set signals_;
  asio::signal_set children_;
  std::function<void()> child_ended_;
};

Server::Server(std::unique_ptr<Listener> listener) : listener_(std::move(listener)) {}

Server::~Server() = default;

Result<std::unique_ptr<Server>> Server::listen(std::uint16_t port, Recordings recordings) {
  auto listener = std::make_unique<Listener>(std::move(recordings));
  if (auto opened = listener->open(port); !opened) return std::unexpected(opened.error());
  return std::unique_ptr<Server>(new Server(std::move(listener)));
}

std::uint16_t Server::port() const {
  return listener_->gate().port;
}

std::string Server::address() const {
  return fmt::format("http://127.0.0.1:{}/{}/", port(), listener_->gate().token);
}

std::string Server::opening_address() {
  auto key = random_hex(kTokenBytes);
  if (!key) return address();
  listener_->gate().opening_key = std::move(*key);
  return fmt::format("http://127.0.0.1:{}/{}/", port(), listener_->gate().opening_key);
}

bool Server::was_opened() const {
  return listener_->gate().opening_key.empty();
}

void Server::when_a_child_ends(std::function<void()> told) {
  listener_->when_a_child_ends(std::move(told));
}

void Server::run() {
  listener_->run();
}

}  // namespace nodescope::server
