#include "formats/perf_data/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/byte_reader.h"
#include "base/text.h"
#include "perf/words.h"

namespace nodescope::perf {

namespace {

constexpr std::string_view kMagic = "PERFILE2";
constexpr std::string_view kMagicOtherByteOrder = "2ELIFREP";
constexpr std::string_view kMagicVersion1 = "PERFFILE";
constexpr std::uint64_t kPipeHeaderBytes = 16;
constexpr std::uint64_t kFileHeaderBytes = 104;
constexpr std::size_t kSectionBytes = 16;

struct Section {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

Section load_section(std::span<const std::byte> bytes, std::size_t offset) {
  return {load<std::uint64_t>(bytes, offset), load<std::uint64_t>(bytes, offset + 8)};
}

// Cut at the end of the file.
std::span<const std::byte> slice(std::span<const std::byte> file, Section section) {
  if (section.offset >= file.size()) return {};
  const auto rest = file.subspan(static_cast<std::size_t>(section.offset));
  return rest.first(static_cast<std::size_t>(std::min<std::uint64_t>(section.size, rest.size())));
}

bool is_whole(std::span<const std::byte> file, Section section) {
  return section.offset <= file.size() && section.size <= file.size() - section.offset;
}

// A 32-bit length and that many bytes, of which the text ends at a NUL.
std::optional<std::string_view> read_text(ByteReader& reader) {
  const auto size = reader.read<std::uint32_t>();
  const auto bytes = size ? reader.take(*size) : std::nullopt;
  if (!bytes) return std::nullopt;
  const std::string_view text = as_text(*bytes);
  return text.substr(0, text.find('\0'));
}

void add_fact(Recording& recording, std::string_view key, std::string_view value) {
  if (!value.empty()) recording.facts.insert_or_assign(std::string(key), to_valid_utf8(value));
}

std::string text_of(std::span<const std::byte> content) {
  ByteReader reader(content);
  return std::string(read_text(reader).value_or(""));
}

void parse_command_line(ByteReader reader, Recording& recording) {
  const auto count = reader.read<std::uint32_t>();
  std::string line;
  for (std::uint32_t i = 0; i < count.value_or(0); ++i) {
    const auto word = read_text(reader);
    if (!word) break;
    if (!line.empty()) line += ' ';
    line += *word;
  }
  // Of perf itself: what it recorded may have been any process.
  add_fact(recording, "recorded by", line);
}

void parse_cpus(ByteReader reader, Recording& recording) {
  reader.take(4);  // available
  if (const auto online = reader.read<std::uint32_t>())
    add_fact(recording, "cpus", fmt::format("{}", *online));
}

void parse_event_description(ByteReader reader, Recording& recording) {
  const auto count = reader.read<std::uint32_t>();
  const auto attribute_bytes = reader.read<std::uint32_t>();
  for (std::uint32_t i = 0; i < count.value_or(0); ++i) {
    reader.take(attribute_bytes.value_or(0));
    const auto id_count = reader.read<std::uint32_t>();
    const auto name = id_count ? read_text(reader) : std::nullopt;
    const auto ids = name ? reader.take(std::uint64_t{*id_count} * 8) : std::nullopt;
    if (!ids) return;
    recording.events.name_event(*ids, i, *name);
  }
}

void parse_build_ids(std::span<const std::byte> content, Recording& recording) {
  while (content.size() >= sizeof(RecordHeader)) {
    const auto header = load<RecordHeader>(content, 0);
    if (header.size < sizeof(RecordHeader) || header.size > content.size()) return;
    parse_build_id_record(
        header.misc, content.subspan(sizeof(RecordHeader), header.size - sizeof(RecordHeader)), recording);
    content = content.subspan(header.size);
  }
}

void parse_time_span(ByteReader reader, Recording& recording) {
  const auto first = reader.read<std::uint64_t>();
  const auto last = reader.read<std::uint64_t>();
  if (last && *last >= *first) add_fact(recording, "duration", human_duration_ns(*last - *first));
}

// What clock the times are of, and the wall clock at one moment of it.
void parse_clock_data(ByteReader reader, Recording& recording) {
  const auto version = reader.read<std::uint32_t>();
  reader.take(4);  // clock id
  const auto wall_clock_ns = reader.read<std::uint64_t>();
  const auto clock_ns = reader.read<std::uint64_t>();
  if (!clock_ns || *version != 1) return;
  recording.clock_offset_ns = static_cast<std::int64_t>(*wall_clock_ns - *clock_ns);
}

void parse_compressed(ByteReader reader, Recording& recording) {
  reader.take(4);  // version
  const auto type = reader.read<std::uint32_t>();
  const auto level = reader.read<std::uint32_t>();
  if (level)
    add_fact(recording, "compression", fmt::format("{}, level {}", *type == 1 ? "zstd" : "unknown", *level));
}

void parse_attributes(std::span<const std::byte> file, Section section, std::uint64_t entry_bytes,
                      Recording& recording, Diagnostics& diagnostics) {
  if (entry_bytes <= kSectionBytes || entry_bytes > section.size) return;
  std::span<const std::byte> rest = slice(file, section);
  while (rest.size() >= entry_bytes) {
    const auto entry = rest.first(static_cast<std::size_t>(entry_bytes));
    rest = rest.subspan(entry.size());
    auto attribute = EventAttribute::parse(entry.first(entry.size() - kSectionBytes));
    const Section ids = load_section(entry, entry.size() - kSectionBytes);
    if (!attribute || !recording.events.add(std::move(*attribute), slice(file, ids))) {
      diagnostics.warn("event of the file header not understood");
    }
  }
}

// Their sections are listed behind the records, in the order of their numbers.
void parse_features(std::span<const std::byte> file, Section data, std::span<const std::byte> bits,
                    Recording& recording, Diagnostics& diagnostics) {
  std::uint64_t offset = data.offset + data.size;
  for (unsigned feature = 0; feature < kFeatureBits; ++feature) {
    if ((std::to_integer<unsigned>(bits[feature / 8]) >> (feature % 8) & 1u) == 0) continue;
    if (!is_whole(file, {offset, kSectionBytes})) {
      diagnostics.warn("the end of the file is missing: what it says about the machine is lost");
      return;
    }
    const Section section = load_section(file, static_cast<std::size_t>(offset));
    parse_feature(static_cast<Feature>(feature), slice(file, section), recording, diagnostics);
    offset += kSectionBytes;
  }
}

}  // namespace

void parse_build_id_record(std::uint16_t misc, std::span<const std::byte> body, Recording& recording) {
  constexpr std::size_t kIdOffset = 4;  // behind the pid
  constexpr std::size_t kIdBytes = 20;
  constexpr std::size_t kNameOffset = 28;
  if (body.size() <= kNameOffset) return;
  std::size_t size = kIdBytes;
  if ((misc & kMiscBuildIdSize) != 0) {
    size = std::min(std::to_integer<std::size_t>(body[kIdOffset + kIdBytes]), kIdBytes);
  }
  const auto id = BuildId::from_bytes(body.subspan(kIdOffset, size));
  const std::string_view name = as_text(body.subspan(kNameOffset));
  const std::string path(name.substr(0, name.find('\0')));
  const bool is_zero =
      std::ranges::all_of(body.subspan(kIdOffset, size), [](std::byte b) { return b == std::byte{}; });
  if (!id || is_zero) return;
  const bool is_kernel = (misc & kMiscCpuModeMask) == kMiscKernel;
  if (is_kernel && !path.ends_with(".ko") && path.find(".ko.") == std::string::npos) {
    if (path.starts_with("[kernel") || path.find("vmlinux") != std::string::npos)
      recording.kernel_build_id = *id;
  }
  recording.build_ids.insert_or_assign(path, *id);
}

void parse_attribute_record(std::span<const std::byte> body, Recording& recording, Diagnostics& diagnostics) {
  // The attribute says its own size; the ids are behind it.
  const std::size_t size = load_or_zero<std::uint32_t>(body, 4);
  auto attribute = size <= body.size() ? EventAttribute::parse(body.first(size)) : std::nullopt;
  if (!attribute || !recording.events.add(std::move(*attribute), body.subspan(size))) {
    diagnostics.warn("event of a header record not understood");
  }
}

void parse_event_update(std::span<const std::byte> body, Recording& recording) {
  constexpr std::uint64_t kUpdateName = 2;
  constexpr std::size_t kDataOffset = 16;
  if (body.size() < kDataOffset || load_word(body, 0) != kUpdateName) return;
  const std::string_view name = as_text(body.subspan(kDataOffset));
  recording.events.name_event(body.subspan(8, 8), EventAttributes::kMaxEvents,
                              name.substr(0, name.find('\0')));
}

void parse_feature(Feature feature, std::span<const std::byte> content, Recording& recording,
                   Diagnostics& diagnostics) {
  const ByteReader reader(content);
  switch (feature) {
    case Feature::kBuildId:
      return parse_build_ids(content, recording);
    case Feature::kHostname:
      return add_fact(recording, "host", text_of(content));
    case Feature::kOsRelease:
      recording.os_release = text_of(content);
      return add_fact(recording, "kernel", recording.os_release);
    case Feature::kVersion:
      return add_fact(recording, "perf", text_of(content));
    case Feature::kArch:
      recording.architecture = text_of(content);
      return add_fact(recording, "architecture", recording.architecture);
    case Feature::kCpus:
      return parse_cpus(reader, recording);
    case Feature::kCpuDescription:
      return add_fact(recording, "processor", text_of(content));
    case Feature::kTotalMemory:
      if (content.size() >= 8) add_fact(recording, "memory", human_bytes(load_word(content, 0) << 10));
      return;
    case Feature::kCommandLine:
      return parse_command_line(reader, recording);
    case Feature::kEventDescription:
      return parse_event_description(reader, recording);
    case Feature::kTimeSpan:
      return parse_time_span(reader, recording);
    case Feature::kClockData:
      return parse_clock_data(reader, recording);
    case Feature::kCompressed:
      return parse_compressed(reader, recording);
    case Feature::kDirectoryFormat:
      return diagnostics.warn("one file of a recording that perf wrote as a folder: the others are not read");
    default:
      return;
  }
}

Result<FileParts> parse_file_header(std::span<const std::byte> file, Recording& recording,
                                    Diagnostics& diagnostics) {
  const std::string_view magic = as_text(file).substr(0, kMagic.size());
  if (magic == kMagicOtherByteOrder) {
    return fail(ErrorCode::kUnsupported,
                "recorded on a big-endian machine; on such a machine, convert it with perf script");
  }
  if (magic == kMagicVersion1) {
    return fail(ErrorCode::kUnsupported,
                "a perf.data of version 1 (before Linux 2.6.35); only version 2 is read");
  }
  if (magic != kMagic) return fail(ErrorCode::kInvalidInput, "not a perf.data");
  if (file.size() < kPipeHeaderBytes) return fail(ErrorCode::kInvalidInput, "cut off within its header");
  const auto header_bytes = load_word(file, 1);
  if (header_bytes == kPipeHeaderBytes)
    return FileParts{file.subspan(kPipeHeaderBytes), kPipeHeaderBytes, true};
  if (header_bytes < kFileHeaderBytes || file.size() < kFileHeaderBytes) {
    return fail(ErrorCode::kInvalidInput, "cut off within its header");
  }
  const Section attributes = load_section(file, 24);
  Section data = load_section(file, 40);
  parse_attributes(file, attributes, load_word(file, 2), recording, diagnostics);
  if (recording.events.empty()) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("no event in its header (section at byte {})", attributes.offset));
  }
  if (data.size == 0) {
    diagnostics.warn("perf record did not end by itself: read up to the end of the file");
    data.size = file.size();
    return FileParts{slice(file, data), data.offset, false};
  }
  if (!is_whole(file, data)) {
    diagnostics.warn("the file is shorter than its header says",
                     fmt::format("records of {} bytes at byte {}, but the file has {} bytes", data.size,
                                 data.offset, file.size()));
  } else {
    parse_features(file, data, file.subspan(72, kFeatureBits / 8), recording, diagnostics);
  }
  return FileParts{slice(file, data), data.offset, false};
}

}  // namespace nodescope::perf
