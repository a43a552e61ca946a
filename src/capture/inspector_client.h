#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "capture/inspector_message.h"
#include "net/web_socket.h"

namespace nodescope {

// A worker thread, as the inspector of its process names it.
struct InspectedWorker {
  std::string session;
  std::string title;
  bool ended = false;
};

// A call that was sent, and whose reply has not been taken yet.
struct InspectorCall {
  std::int64_t id = 0;
  std::string method;
  std::string worker;  // its session; empty: the main thread
};

// What to make of an event for the call that is being waited for.
enum class EventUse : std::uint8_t {
  kNone,
  kWaitOn,  // the peer is at work on it: its time begins anew
  kGiveUp,
};

// Talks to V8's inspector.  The peer is a process that may be anything: whatever it answers, a call ends in
// time.
class InspectorClient {
 public:
  static constexpr std::chrono::milliseconds kCallTime{10'000};
  // The profile of a day of a large program is some hundred megabytes, in one message.
  static constexpr std::size_t kMaxMessageBytes = std::size_t{512} << 20;

  explicit InspectorClient(net::WebSocket socket) : socket_(std::move(socket)) {}

  // Sends a call, of which await() takes the reply, the whole {"id":…,"result":…}.  `params` is JSON of ours.
  // In the session of a worker where one is given.
  Result<InspectorCall> send(std::string_view method, std::string_view params = "{}",
                             const std::string& worker = {});
  Result<std::string> await(const InspectorCall& call, std::chrono::milliseconds timeout = kCallTime);
  // Sends one whose reply nobody needs.
  void tell(std::string_view method, std::string_view params = "{}", const std::string& worker = {});
  // Sends one and takes its reply.
  Result<std::string> call(std::string_view method, std::string_view params = "{}",
                           std::chrono::milliseconds timeout = kCallTime);

  // From now on the workers are known that are there and that come.
  Result<void> follow_workers();
  // Grows; an index stays valid.
  const std::vector<InspectedWorker>& workers() const { return workers_; }

  // Is told every event of the main thread, by its name and whole text.
  void on_event(std::function<EventUse(std::string_view, const std::string&)> handler) {
    handler_ = std::move(handler);
  }

  // A call that is being waited for ends when `given_up` says so.
  void give_up_when(std::function<bool()> given_up) { given_up_ = std::move(given_up); }

  // Takes in what has come meanwhile.  kNotFound when the connection has ended.
  Result<void> poll();
  void close() { socket_.close(std::chrono::milliseconds(500)); }

 private:
  struct Expected {
    std::string worker;
    std::optional<InspectorMessage> reply;
  };

  EventUse sort_in(std::string text);
  void keep_reply(const std::string& worker, InspectorMessage message);
  std::optional<InspectorMessage> take_reply(const InspectorCall& call);
  bool has_ended(const std::string& worker) const;
  void note_worker(const std::string& text);

  net::WebSocket socket_;
  std::int64_t last_id_ = 0;
  std::map<std::int64_t, Expected> expected_;
  std::size_t kept_bytes_ = 0;  // of replies that nobody has taken yet
  std::vector<InspectedWorker> workers_;
  std::function<EventUse(std::string_view, const std::string&)> handler_;
  std::function<bool()> given_up_;
};

}  // namespace nodescope
