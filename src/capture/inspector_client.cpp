#include "capture/inspector_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <optional>

#include "base/byte_sink.h"
#include "base/byte_source.h"
#include "base/text.h"
#include "json/reader.h"
#include "json/writer.h"

namespace nodescope {

namespace {

using Clock = std::chrono::steady_clock;

// A program may start and end workers without end; what is beyond this is not looked at.
constexpr std::size_t kMaxWorkers = 10'000;
// So that a peer that never stops talking does not hold us.
constexpr int kMaxMessagesInPoll = 1'000;
constexpr std::string_view kWorkerMessage = "NodeWorker.receivedMessageFromWorker";

std::string request_text(std::int64_t id, std::string_view method, std::string_view params) {
  return fmt::format(R"({{"id":{},"method":"{}","params":{}}})", id, method, params);
}

// {"sessionId":…,"message":…}, in which the message is JSON in a string.
std::string wrapped(const std::string& session, const std::string& message) {
  StringSink sink;
  json::Writer writer(sink);
  writer.begin_object().key("sessionId").string(session).key("message").string(message).end_object();
  (void)writer.finish();  // memory does not fail
  return sink.text();
}

std::string_view text_in(const boost::json::object& object, std::string_view key) {
  const boost::json::value* value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}

// The "params" of an event; nothing where the text is no such thing.
std::optional<boost::json::object> params_of(const std::string& text) {
  boost::system::error_code error;
  auto parsed = boost::json::parse(text, error);
  if (error || !parsed.is_object()) return std::nullopt;
  boost::json::value* params = parsed.get_object().if_contains("params");
  if (params == nullptr || !params->is_object()) return std::nullopt;
  return std::move(params->get_object());
}

}  // namespace

InspectorClient::Message InspectorClient::parse(std::string text) {
  Message message;
  MemorySource source(std::string_view(text), "the inspector's answer");
  json::Reader reader(source);
  auto members = reader.object();
  while (const auto key = members.next()) {
    if (*key == "id") {
      const auto id = reader.number();
      if (id) message.answers = static_cast<std::int64_t>(id->as_count());
    } else if (*key == "method") {
      message.method = reader.string().value_or("");
    } else if (*key == "error") {
      message.error = "unknown error";
      auto details = reader.object();
      while (const auto detail = details.next()) {
        if (*detail == "message") message.error = reader.string().value_or("");
      }
    }
  }
  message.text = std::move(text);
  return message;
}

Result<void> InspectorClient::send(std::int64_t id, std::string_view method, std::string_view params,
                                   std::chrono::milliseconds timeout) {
  return socket_.send(request_text(id, method, params), timeout);
}

Result<std::string> InspectorClient::call(std::string_view method, std::string_view params,
                                          std::chrono::milliseconds timeout, const std::string& worker) {
  const std::int64_t id = ++last_id_;
  Result<void> sent;
  if (worker.empty()) {
    sent = send(id, method, params, timeout);
  } else {
    sent = send(++last_id_, "NodeWorker.sendMessageToWorker",
                wrapped(worker, request_text(id, method, params)), timeout);
  }
  if (!sent) return fail(sent.error(), method);
  return await_reply(id, worker, method, timeout);
}

Result<std::string> InspectorClient::await_reply(std::int64_t id, const std::string& worker,
                                                 std::string_view method, std::chrono::milliseconds timeout) {
  const auto end = Clock::now() + timeout;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) {
      return fail(ErrorCode::kSystem, fmt::format("{}: the inspector did not answer within {} s", method,
                                                  timeout.count() / 1000));
    }
    auto received = socket_.receive(left);
    if (!received) return fail(received.error(), method);
    if (!*received) continue;
    auto message = sort_in(std::move(**received));
    if (!message || message->first != worker || message->second.answers != id) continue;
    if (!message->second.error.empty())
      return fail(ErrorCode::kUnsupported,
                  fmt::format("{}: the inspector says: {}", method, printable(message->second.error)));
    return std::move(message->second.text);
  }
}

std::optional<std::pair<std::string, InspectorClient::Message>> InspectorClient::sort_in(std::string text) {
  Message message = parse(std::move(text));
  if (message.answers >= 0) return std::pair(std::string(), std::move(message));
  if (message.method == kWorkerMessage) {
    const auto params = params_of(message.text);
    if (!params) return std::nullopt;
    Message inner = parse(std::string(text_in(*params, "message")));
    if (inner.answers < 0) return std::nullopt;
    return std::pair(std::string(text_in(*params, "sessionId")), std::move(inner));
  }
  if (message.method.starts_with("NodeWorker.")) {
    note_worker(message.text);
  } else if (handler_) {
    handler_(message.method, message.text);
  }
  return std::nullopt;
}

void InspectorClient::note_worker(const std::string& text) {
  const auto params = params_of(text);
  if (!params) return;
  const std::string session(text_in(*params, "sessionId"));
  if (const boost::json::value* worker = params->if_contains("workerInfo");
      worker != nullptr && worker->is_object()) {
    if (workers_.size() < kMaxWorkers && !session.empty())
      workers_.push_back({session, std::string(text_in(worker->get_object(), "title"))});
    return;
  }
  const auto ended = std::ranges::find(workers_, session, &InspectedWorker::session);
  if (ended != workers_.end()) ended->ended = true;
}

Result<void> InspectorClient::follow_workers() {
  const auto enabled = call("NodeWorker.enable", R"({"waitForDebuggerOnStart":false})");
  if (!enabled) return std::unexpected(enabled.error());
  return {};
}

Result<void> InspectorClient::poll() {
  for (int i = 0; i < kMaxMessagesInPoll; ++i) {
    auto received = socket_.receive(std::chrono::milliseconds(1));
    if (!received) return std::unexpected(received.error());
    if (!*received) return {};
    (void)sort_in(std::move(**received));  // an answer that comes too late
  }
  return {};
}

}  // namespace nodescope
