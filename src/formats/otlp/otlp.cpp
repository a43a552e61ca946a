#include "formats/otlp/otlp.h"

#include <fmt/format.h>

#include <string>

#include "formats/otlp/read.h"
#include "json/sniff.h"

namespace nodescope {

namespace {

// Its tables come in any order, so all of it is held.
constexpr std::uint64_t kMaxBytesInMemory = std::uint64_t{2} << 30;

bool is_json(std::string_view head) {
  const std::size_t start = head.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return start != std::string_view::npos && head[start] == '{';
}

bool recognise_otlp(std::string_view head) {
  if (!is_json(head)) return otlp::is_protobuf(head);
  const json::Outline outline = json::outline_of(head);
  return outline.has("resourceProfiles") ||
         (outline.has("dictionary") &&
          (outline.has("dictionary.stringTable") || outline.has("dictionary.stackTable")));
}

Result<otlp::Data> parse(std::string_view file, std::string_view name, Diagnostics& diagnostics) {
  if (!is_json(file)) return otlp::parse_protobuf(file, diagnostics);
  MemorySource source(file, std::string(name));
  json::Reader reader(source);
  otlp::Data data = otlp::parse_json(reader);
  if (const auto finished = reader.finish(diagnostics, !data.profiles.empty()); !finished)
    return std::unexpected(finished.error());
  return data;
}

Result<Profile> read_otlp(ByteSource& source, const ReadOptions&) {
  std::string storage;
  const auto file = map_or_read_whole(source, storage, kMaxBytesInMemory);
  if (!file) return std::unexpected(file.error());
  Profile profile;
  const auto data = parse(as_text(*file), source.name(), profile.diagnostics);
  if (!data) return std::unexpected(data.error());
  otlp::build(*data, profile);
  if (profile.samples.size() == 0) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("{}: a profile of OpenTelemetry without samples", source.name()));
  }
  return profile;
}

}  // namespace

const Format kOtlpFormat = {
    .name = "otlp",
    .extension = "",
    .description = "OpenTelemetry profiles (v1development), protobuf or JSON",
    .recognise = recognise_otlp,
    .read = read_otlp,
    .write = nullptr,
};

}  // namespace nodescope
