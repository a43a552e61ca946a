#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "app/server/recordings.h"
#include "base/result.h"

namespace nodescope::server {

// Serves the page and its recordings to the browser of this machine: on 127.0.0.1 and on no other address, to
// whoever knows the token in the path.
class Server {
 public:
  // Port 0: one that is free.
  static Result<std::unique_ptr<Server>> listen(std::uint16_t port, Recordings recordings);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;
  // For people: holds as long as the server runs.
  std::string address() const;
  // For the command line of a browser: holds once.
  std::string opening_address();

  // Whether somebody came by the opening address.
  bool was_opened() const;

  // Calls `told` while run() goes on, first and each time that a program has ended which we started.
  void when_a_child_ends(std::function<void()> told);

  // Until SIGINT or SIGTERM, which from listen() on end this instead of the program.
  void run();

 private:
  class Listener;
  explicit Server(std::unique_ptr<Listener> listener);

  std::unique_ptr<Listener> listener_;
};

}  // namespace nodescope::server
