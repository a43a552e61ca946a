#include "page/reply.h"

#include <fmt/format.h>

#include <cstring>

namespace nodescope::page {

namespace {

constexpr std::size_t kHeaderBytes = 8;

std::size_t aligned(std::size_t bytes) {
  return (bytes + 7) / 8 * 8;
}

void put_u32(std::string& bytes, std::size_t at, std::size_t value) {
  const auto narrow = static_cast<std::uint32_t>(value);
  std::memcpy(bytes.data() + at, &narrow, sizeof(narrow));
}

}  // namespace

Reply::Reply() : json_(sink_) {
  json_.begin_object();
}

// Names of columns are ours.  Offsets have a fixed width, so that the length does not depend on them.
std::string Reply::columns_json(std::size_t data_begin) const {
  std::string text;
  for (const Column& column : columns_) {
    text += fmt::format(R"({}"{}":{{"type":"{}","offset":{:>10},"count":{}}})", text.empty() ? "" : ",",
                        column.name, column.type, data_begin + column.offset, column.count);
  }
  return text;
}

std::string Reply::finish() {
  std::string json;
  if (columns_.empty()) {
    json_.end_object();
    if (json_.finish()) json = sink_.text();
  } else {
    json_.key("columns").begin_object().end_object().end_object();
    if (json_.finish()) json = sink_.text();
    json.resize(json.rfind("}}"));
    const std::size_t size = json.size() + columns_json(0).size() + 2;
    json += columns_json(aligned(kHeaderBytes + size)) + "}}";
  }
  std::string reply(kHeaderBytes, '\0');
  reply += json;
  reply.resize(aligned(reply.size()));
  reply += data_;
  put_u32(reply, 0, reply.size());
  put_u32(reply, 4, json.size());
  return reply;
}

std::string error_reply(std::string_view message) {
  Reply reply;
  reply.member("error", message);
  return reply.finish();
}

}  // namespace nodescope::page
