#include "perf/record.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "perf/words.h"

namespace nodescope::perf {

namespace {

using Bytes = std::span<const std::byte>;
using Parsed = std::expected<RecordContent, RecordFault>;

constexpr std::uint32_t kNewestKnownType = 22;  // PERF_RECORD_CALLCHAIN_DEFERRED

// A record that is not a sample.
struct Body {
  Bytes bytes;
  std::size_t trailer_bytes = 0;  // what sample_id_all puts at the end
  std::uint16_t misc = 0;

  bool has(std::size_t size) const { return bytes.size() >= size; }
  template <typename T>
  T at(std::size_t offset) const {
    return load<T>(bytes, offset);
  }
  std::string_view text_at(std::size_t offset) const {
    if (!has(offset + trailer_bytes)) return {};
    const std::string_view text = as_text(bytes.subspan(offset, bytes.size() - offset - trailer_bytes));
    return text.substr(0, text.find('\0'));
  }
  bool is(std::uint16_t bit) const { return (misc & bit) != 0; }
};

std::unexpected<RecordFault> too_short() {
  return std::unexpected(RecordFault::kTooShort);
}

Range<Address> range_of(std::uint64_t begin, std::uint64_t size) {
  const Address address{begin};
  return {address, address + std::min(size, UINT64_MAX - begin)};
}

Parsed parse_mmap(const Body& body, bool is_mmap2) {
  constexpr std::size_t kBuildIdSizeOffset = 32;
  constexpr std::size_t kBuildIdOffset = 36;
  constexpr std::size_t kMaxBuildIdBytes = 20;
  const std::size_t name_offset = is_mmap2 ? 64 : 32;
  if (!body.has(name_offset + 1)) return too_short();
  MmapRecord mapped;
  mapped.pid = body.at<std::int32_t>(0);
  mapped.range = range_of(body.at<std::uint64_t>(8), body.at<std::uint64_t>(16));
  mapped.file_offset = body.at<std::uint64_t>(24);
  mapped.path = body.text_at(name_offset);
  if (is_mmap2 && body.is(kMiscMmapBuildId)) {
    const std::size_t size =
        std::min<std::size_t>(body.at<std::uint8_t>(kBuildIdSizeOffset), kMaxBuildIdBytes);
    mapped.build_id = BuildId::from_bytes(body.bytes.subspan(kBuildIdOffset, size));
  }
  return mapped;
}

Parsed parse_comm(const Body& body) {
  constexpr std::size_t kNameOffset = 8;
  if (!body.has(kNameOffset + 1)) return too_short();
  return CommRecord{body.at<std::int32_t>(0), body.at<std::int32_t>(4), body.text_at(kNameOffset),
                    body.is(kMiscCommExec)};
}

Parsed parse_fork(const Body& body) {
  if (!body.has(16)) return too_short();
  return ForkRecord{body.at<std::int32_t>(0), body.at<std::int32_t>(8), body.at<std::int32_t>(4),
                    body.at<std::int32_t>(12), body.is(kMiscForkExec)};
}

Parsed parse_exit(const Body& body) {
  if (!body.has(12)) return too_short();
  return ExitRecord{body.at<std::int32_t>(0), body.at<std::int32_t>(8)};
}

Parsed parse_lost(const Body& body) {
  if (!body.has(16)) return too_short();
  return LostRecord{body.at<std::uint64_t>(8)};
}

Parsed parse_lost_samples(const Body& body) {
  if (!body.has(8)) return too_short();
  return LostSamplesRecord{body.at<std::uint64_t>(0), body.is(kMiscLostSamplesBpf)};
}

// The time, the id and the stream id of the event.
Parsed parse_throttle(const Body& body, bool begins) {
  if (!body.has(24)) return too_short();
  return ThrottleRecord{body.at<std::uint64_t>(16), begins};
}

Parsed parse_namespaces(const Body& body) {
  constexpr std::size_t kPidNamespace = 3;  // NET, UTS, IPC, PID; each a device and a number
  constexpr std::size_t kLinksOffset = 16;
  constexpr std::size_t kNumberOffset = kLinksOffset + kPidNamespace * 16 + 8;
  if (!body.has(kLinksOffset)) return too_short();
  NamespacesRecord namespaces{body.at<std::int32_t>(0), std::nullopt};
  if (body.at<std::uint64_t>(8) > kPidNamespace && body.has(kNumberOffset + 8))
    namespaces.pid_namespace = body.at<std::uint64_t>(kNumberOffset);
  return namespaces;
}

Parsed parse_kernel_symbol(const Body& body) {
  constexpr std::size_t kNameOffset = 16;
  constexpr std::uint16_t kUnregister = 1;
  if (!body.has(kNameOffset + 1)) return too_short();
  return KernelSymbolRecord{range_of(body.at<std::uint64_t>(0), body.at<std::uint32_t>(8)),
                            body.text_at(kNameOffset), (body.at<std::uint16_t>(14) & kUnregister) != 0};
}

Parsed parse_other(RecordType type, const Body& body) {
  switch (type) {
    case RecordType::kMmap:
    case RecordType::kMmap2:
      return parse_mmap(body, type == RecordType::kMmap2);
    case RecordType::kComm:
      return parse_comm(body);
    case RecordType::kFork:
      return parse_fork(body);
    case RecordType::kExit:
      return parse_exit(body);
    case RecordType::kLost:
      return parse_lost(body);
    case RecordType::kLostSamples:
      return parse_lost_samples(body);
    case RecordType::kThrottle:
    case RecordType::kUnthrottle:
      return parse_throttle(body, type == RecordType::kThrottle);
    case RecordType::kSwitch:
    case RecordType::kSwitchCpuWide:
      return SwitchRecord{body.is(kMiscSwitchOut), body.is(kMiscSwitchOutPreempt)};
    case RecordType::kNamespaces:
      return parse_namespaces(body);
    case RecordType::kKsymbol:
      return parse_kernel_symbol(body);
    default:
      return OtherRecord{type, static_cast<std::uint32_t>(type) <= kNewestKnownType};
  }
}

}  // namespace

std::string_view to_string(RecordFault fault) {
  switch (fault) {
    case RecordFault::kTooShort:
      return "record shorter than its kind says: left out";
    case RecordFault::kSampleTooShort:
      return "sample shorter than its event says: left out";
    case RecordFault::kUnknownEvent:
      return "sample of an event that the file does not describe: left out";
  }
  return {};
}

void note_other(const OtherRecord& other, Diagnostics& diagnostics) {
  if (other.is_known) return;
  diagnostics.info("records of a kind that is not known: left out",
                   fmt::format("type {}", static_cast<std::uint32_t>(other.type)));
}

std::expected<Record, RecordFault> parse_record(const EventAttributes& events, const RecordHeader& header,
                                                Bytes body) {
  Record record;
  record.cpu_mode = header.misc & kMiscCpuModeMask;
  if (header.type == RecordType::kSample) {
    const auto event = events.find_of_sample(body);
    if (!event) return std::unexpected(RecordFault::kUnknownEvent);
    auto sample = SampleRecord::parse(events[*event], body);
    if (!sample) return std::unexpected(RecordFault::kSampleTooShort);
    sample->event = *event;
    record.time = sample->time;
    record.content = *sample;
    return record;
  }
  auto content = parse_other(header.type, {body, events.trailer_bytes(body), header.misc});
  if (!content) return std::unexpected(content.error());
  record.content = *content;
  record.time = events.time_of_other(body).value_or(0);
  record.origin = events.origin_of_other(body);
  return record;
}

}  // namespace nodescope::perf
