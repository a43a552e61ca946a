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

std::string_view WireEnum<Severity>::word(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "info";
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      break;
  }
  return "warning";
}

std::string_view WireEnum<Origin>::word(Origin origin) {
  switch (origin) {
    case Origin::kOwn:
      return "own";
    case Origin::kPackage:
      return "package";
    case Origin::kNode:
      return "node";
    case Origin::kBuiltin:
      return "builtin";
    case Origin::kRegExp:
      return "regexp";
    case Origin::kGc:
      return "gc";
    case Origin::kNative:
      return "native";
    case Origin::kKernel:
      return "kernel";
    case Origin::kUnknown:
      break;
  }
  return "unknown";
}

std::string_view WireEnum<JsTier>::word(JsTier tier) {
  return tier == JsTier::kNone ? "none" : to_string(tier);
}

std::string_view WireEnum<MarkerKind>::word(MarkerKind kind) {
  switch (kind) {
    case MarkerKind::kGc:
      return "gc";
    case MarkerKind::kStall:
      return "stall";
    case MarkerKind::kLost:
      return "lost";
    case MarkerKind::kOther:
      break;
  }
  return "other";
}

ReplyWriter::ReplyWriter() : json_(sink_) {
  json_.begin_object();
}

void ReplyWriter::words(const std::map<std::string, std::string>& words) {
  json_.begin_object();
  for (const auto& [key, word] : words) json_.untrusted_key(key).string(word);
  json_.end_object();
}

void ReplyWriter::bytes(std::string name, const char* type, std::size_t count,
                        std::span<const std::byte> values) {
  data_.resize(aligned(data_.size()));
  columns_.push_back({std::move(name), type, data_.size(), count});
  if (!values.empty()) data_.append(reinterpret_cast<const char*>(values.data()), values.size());
}

// Names of columns are ours.  Offsets have a fixed width, so that the length does not depend on them.
std::string ReplyWriter::columns_json(std::size_t data_begin) const {
  std::string text;
  for (const Placed& column : columns_) {
    text += fmt::format(R"({}"{}":{{"type":"{}","offset":{:>10},"count":{}}})", text.empty() ? "" : ",",
                        column.name, column.type, data_begin + column.offset, column.count);
  }
  return text;
}

std::string ReplyWriter::finish() {
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

struct ErrorReply {
  std::string_view error;
};
NODESCOPE_WIRE(ErrorReply, (error))

std::string error_reply(std::string_view message) {
  return write_reply(ErrorReply{message});
}

}  // namespace nodescope::page
