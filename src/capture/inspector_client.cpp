#include "capture/inspector_client.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/byte_sink.h"
#include "base/text.h"
#include "json/writer.h"

namespace nodescope {

namespace {

using Clock = std::chrono::steady_clock;

// A program may start and end workers without end; what is beyond this is not looked at.
constexpr std::size_t kMaxWorkers = 10'000;
// How often somebody is asked whether to go on waiting.
constexpr std::chrono::milliseconds kSlice{200};
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
  [[maybe_unused]] const auto finished = writer.finish();  // memory does not fail
  return sink.text();
}

}  // namespace

Result<InspectorCall> InspectorClient::send(std::string_view method, std::string_view params,
                                            const std::string& worker) {
  InspectorCall call{++last_id_, std::string(method), worker};
  std::string text = request_text(call.id, method, params);
  if (!worker.empty())
    text = request_text(++last_id_, "NodeWorker.sendMessageToWorker", wrapped(worker, text));
  if (auto sent = socket_.send(text, kCallTime); !sent) return fail(sent.error(), method);
  expected_[call.id].worker = worker;
  return call;
}

void InspectorClient::tell(std::string_view method, std::string_view params, const std::string& worker) {
  if (const auto sent = send(method, params, worker)) expected_.erase(sent->id);
}

Result<std::string> InspectorClient::await(const InspectorCall& call, std::chrono::milliseconds timeout) {
  auto end = Clock::now() + timeout;
  while (true) {
    if (auto reply = take_reply(call)) {
      if (reply->error.empty()) return std::move(reply->text);
      return fail(ErrorCode::kUnsupported,
                  fmt::format("{}: the inspector says: {}", call.method, printable(reply->error)));
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0 || has_ended(call.worker)) {
      expected_.erase(call.id);
      if (left.count() > 0) return fail(ErrorCode::kNotFound, call.method + ": the worker has ended");
      return fail(ErrorCode::kSystem, fmt::format("{}: the inspector did not answer within {} s", call.method,
                                                  timeout.count() / 1000));
    }
    auto received = socket_.receive(std::min(left, kSlice));
    if (!received) return fail(received.error(), call.method);
    const EventUse use = *received ? sort_in(std::move(**received)) : EventUse::kNone;
    if (use == EventUse::kWaitOn) end = Clock::now() + timeout;
    if (use == EventUse::kGiveUp || (given_up_ && given_up_()))
      return fail(ErrorCode::kSystem, call.method + ": given up");
  }
}

Result<std::string> InspectorClient::call(std::string_view method, std::string_view params,
                                          std::chrono::milliseconds timeout) {
  const auto sent = send(method, params);
  if (!sent) return std::unexpected(sent.error());
  return await(*sent, timeout);
}

std::optional<InspectorMessage> InspectorClient::take_reply(const InspectorCall& call) {
  const auto found = expected_.find(call.id);
  if (found == expected_.end() || !found->second.reply) return std::nullopt;
  InspectorMessage reply = std::move(*found->second.reply);
  kept_bytes_ -= reply.text.size();
  expected_.erase(found);
  return reply;
}

// Replies may come in another order than they are waited for in.
void InspectorClient::keep_reply(const std::string& worker, InspectorMessage message) {
  const auto found = expected_.find(message.answers);
  if (found == expected_.end() || found->second.worker != worker || found->second.reply) return;
  if (kept_bytes_ + message.text.size() > kMaxMessageBytes) {
    message.error = "more than fits into memory";
    message.text.clear();
  }
  kept_bytes_ += message.text.size();
  found->second.reply = std::move(message);
}

EventUse InspectorClient::sort_in(std::string text) {
  InspectorMessage message = parse_inspector_message(std::move(text));
  if (message.answers >= 0) {
    keep_reply({}, std::move(message));
  } else if (message.method == kWorkerMessage) {
    auto event = parse_worker_event(message.text);
    if (event) keep_reply(event->session, parse_inspector_message(std::move(event->message)));
  } else if (message.method.starts_with("NodeWorker.")) {
    note_worker(message.text);
  } else if (handler_) {
    return handler_(message.method, message.text);
  }
  return EventUse::kNone;
}

bool InspectorClient::has_ended(const std::string& worker) const {
  const auto found = std::ranges::find(workers_, worker, &InspectedWorker::session);
  return found != workers_.end() && found->ended;
}

void InspectorClient::note_worker(const std::string& text) {
  const auto event = parse_worker_event(text);
  if (!event || event->session.empty()) return;
  if (event->title) {
    if (workers_.size() < kMaxWorkers) workers_.push_back({event->session, *event->title});
    return;
  }
  const auto ended = std::ranges::find(workers_, event->session, &InspectedWorker::session);
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
    sort_in(std::move(**received));
  }
  return {};
}

}  // namespace nodescope
