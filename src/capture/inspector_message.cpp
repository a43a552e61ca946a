#include "capture/inspector_message.h"

#include <boost/json.hpp>

#include "base/byte_source.h"
#include "json/reader.h"

namespace nodescope {

namespace {

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

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(": \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
}

}  // namespace

InspectorMessage parse_inspector_message(std::string text) {
  InspectorMessage message;
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

std::optional<WorkerEvent> parse_worker_event(const std::string& text) {
  const auto params = params_of(text);
  if (!params) return std::nullopt;
  WorkerEvent event{.session = std::string(text_in(*params, "sessionId")),
                    .title = std::nullopt,
                    .message = std::string(text_in(*params, "message"))};
  const boost::json::value* info = params->if_contains("workerInfo");
  if (info != nullptr && info->is_object()) event.title = text_in(info->get_object(), "title");
  return event;
}

std::optional<std::string> parse_snapshot_chunk(const std::string& text) {
  const auto params = params_of(text);
  if (!params) return std::nullopt;
  const boost::json::value* chunk = params->if_contains("chunk");
  if (chunk == nullptr || !chunk->is_string()) return std::nullopt;
  return std::string(chunk->get_string());
}

std::optional<std::string_view> text_in_result(std::string_view reply, std::string_view name) {
  MemorySource source(reply, "the inspector's answer");
  json::Reader reader(source);
  auto members = reader.object();
  while (const auto key = members.next()) {
    if (*key != "result") continue;
    auto values = reader.object();
    while (const auto value = values.next()) {
      if (*value != name) continue;
      const std::uint64_t begin = reader.offset();
      reader.skip();
      if (reader.failed() || reader.offset() > reply.size()) return std::nullopt;
      return trimmed(reply.substr(begin, reader.offset() - begin));
    }
  }
  return std::nullopt;
}

}  // namespace nodescope
