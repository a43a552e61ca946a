#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/web_socket.h"

namespace nodescope {

// A worker thread, as the inspector of its process names it.
struct InspectedWorker {
  std::string session;
  std::string title;
  bool ended = false;
};

// Talks to V8's inspector.  The peer is a process that may be anything: whatever it answers, a call ends in
// time.
class InspectorClient {
 public:
  static constexpr std::chrono::milliseconds kCallTime{10'000};
  // The profile of a day of a large program is some hundred megabytes, in one message.
  static constexpr std::size_t kMaxMessageBytes = std::size_t{512} << 20;

  explicit InspectorClient(net::WebSocket socket) : socket_(std::move(socket)) {}

  // The whole reply, {"id":…,"result":…}.  `params` is JSON of ours.  In the session of a worker where one is
  // given.
  Result<std::string> call(std::string_view method, std::string_view params = "{}",
                           std::chrono::milliseconds timeout = kCallTime, const std::string& worker = {});

  // From now on the workers are known that are there and that come.
  Result<void> follow_workers();
  // Grows; an index stays valid.
  const std::vector<InspectedWorker>& workers() const { return workers_; }

  // Is told every event of the main thread, by its name and whole text.
  void on_event(std::function<void(std::string_view, const std::string&)> handler) {
    handler_ = std::move(handler);
  }

  // Takes in what has come meanwhile.  kNotFound when the connection has ended.
  Result<void> poll();
  void close() { socket_.close(std::chrono::milliseconds(500)); }

 private:
  // A message of one session, and what it answers.
  struct Message {
    std::int64_t answers = -1;  // the id of a call; -1: an event
    std::string method;
    std::string error;
    std::string text;
  };

  Result<void> send(std::int64_t id, std::string_view method, std::string_view params,
                    std::chrono::milliseconds timeout);
  Result<std::string> await_reply(std::int64_t id, const std::string& worker, std::string_view method,
                                  std::chrono::milliseconds timeout);
  // Nothing: it was an event, and has been dealt with.
  std::optional<std::pair<std::string, Message>> sort_in(std::string text);
  void note_worker(const std::string& text);
  static Message parse(std::string text);

  net::WebSocket socket_;
  std::int64_t last_id_ = 0;
  std::vector<InspectedWorker> workers_;
  std::function<void(std::string_view, const std::string&)> handler_;
};

}  // namespace nodescope
