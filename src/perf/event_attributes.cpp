#include "perf/event_attributes.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "perf/words.h"

namespace nodescope::perf {

namespace {

constexpr std::size_t kSmallestAttribute = 64;   // PERF_ATTR_SIZE_VER0
constexpr std::size_t kLargestAttribute = 4096;  // a page, as in the kernel

constexpr std::uint32_t kTypeHardware = 0;
constexpr std::uint32_t kTypeSoftware = 1;
constexpr std::uint32_t kTypeTracepoint = 2;
constexpr std::uint32_t kTypeCache = 3;
constexpr std::uint32_t kTypeRaw = 4;
constexpr std::uint32_t kTypeBreakpoint = 5;

constexpr std::array<std::string_view, 10> kHardwareNames = {
    "cycles",        "instructions", "cache-references",        "cache-misses",           "branches",
    "branch-misses", "bus-cycles",   "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"};
constexpr std::array<std::string_view, 12> kSoftwareNames = {
    "cpu-clock",        "task-clock",   "page-faults",  "context-switches",
    "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
    "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches"};

template <std::size_t N>
std::string name_at(const std::array<std::string_view, N>& names, std::uint64_t index,
                    std::string_view family) {
  return index < N ? std::string(names[index]) : fmt::format("{} {}", family, index);
}

std::string cache_name(std::uint64_t config) {
  constexpr std::array<std::string_view, 7> kCaches = {"L1-dcache", "L1-icache", "LLC", "dTLB",
                                                       "iTLB",      "branch",    "node"};
  constexpr std::array<std::string_view, 3> kOperations = {"load", "store", "prefetch"};
  const std::uint64_t cache = config & 0xFF;
  const std::uint64_t operation = config >> 8 & 0xFF;
  const std::uint64_t result = config >> 16 & 0xFF;
  if (cache >= kCaches.size() || operation >= kOperations.size() || result > 1) {
    return fmt::format("cache {:#x}", config);
  }
  if (result == 1) return fmt::format("{}-{}-misses", kCaches[cache], kOperations[operation]);
  return fmt::format("{}-{}{}", kCaches[cache], kOperations[operation], operation == 2 ? "es" : "s");
}

std::string base_name(const EventAttribute& attribute) {
  switch (attribute.type) {
    case kTypeHardware:
      return name_at(kHardwareNames, attribute.config & 0xFFFFFFFF, "hardware event");
    case kTypeSoftware:
      return name_at(kSoftwareNames, attribute.config, "software event");
    case kTypeTracepoint:
      return fmt::format("tracepoint {}", attribute.config);
    case kTypeCache:
      return cache_name(attribute.config);
    case kTypeRaw:
      return fmt::format("raw {:#x}", attribute.config);
    case kTypeBreakpoint:
      return "breakpoint";
    default:
      return fmt::format("event {} {:#x}", attribute.type, attribute.config);
  }
}

// ":u" for user code only, ":ppp" for the wanted precision.
std::string modifiers(std::uint64_t flags) {
  const bool no_user = (flags >> 4 & 1) != 0;
  const bool no_kernel = (flags >> 5 & 1) != 0;
  const bool no_hypervisor = (flags >> 6 & 1) != 0;
  std::string text;
  if (no_user || no_kernel || no_hypervisor) {
    if (!no_kernel) text += 'k';
    if (!no_user) text += 'u';
    if (!no_hypervisor) text += 'h';
  }
  text.append(flags >> 15 & 3, 'p');
  return text.empty() ? text : ":" + text;
}

class LayoutBuilder {
 public:
  explicit LayoutBuilder(std::uint64_t sample_type) : sample_type_(sample_type) {}

  std::uint8_t take(std::uint64_t field) {
    return (sample_type_ & field) != 0 ? words_++ : SampleLayout::kAbsent;
  }
  std::uint8_t words() const { return words_; }

 private:
  std::uint64_t sample_type_;
  std::uint8_t words_ = 0;
};

std::uint8_t first_present(std::uint8_t a, std::uint8_t b) {
  return a != SampleLayout::kAbsent ? a : b;
}

}  // namespace

SampleLayout SampleLayout::of_sample(std::uint64_t sample_type) {
  LayoutBuilder builder(sample_type);
  SampleLayout layout;
  const std::uint8_t identifier = builder.take(kSampleIdentifier);
  layout.ip = builder.take(kSampleIp);
  layout.tid = builder.take(kSampleTid);
  layout.time = builder.take(kSampleTime);
  builder.take(kSampleAddr);
  layout.id = first_present(identifier, builder.take(kSampleId));
  builder.take(kSampleStreamId);
  layout.cpu = builder.take(kSampleCpu);
  layout.period = builder.take(kSamplePeriod);
  layout.words = builder.words();
  return layout;
}

SampleLayout SampleLayout::of_trailer(std::uint64_t sample_type) {
  LayoutBuilder builder(sample_type);
  SampleLayout layout;
  layout.tid = builder.take(kSampleTid);
  layout.time = builder.take(kSampleTime);
  const std::uint8_t id = builder.take(kSampleId);
  builder.take(kSampleStreamId);
  layout.cpu = builder.take(kSampleCpu);
  layout.id = first_present(builder.take(kSampleIdentifier), id);
  layout.words = builder.words();
  return layout;
}

std::optional<EventAttribute> EventAttribute::parse(std::span<const std::byte> bytes) {
  if (bytes.size() < kSmallestAttribute || bytes.size() > kLargestAttribute) return std::nullopt;
  const auto u64 = [&](std::size_t offset) { return load_or_zero<std::uint64_t>(bytes, offset); };
  EventAttribute attribute;
  attribute.type = load_or_zero<std::uint32_t>(bytes, 0);
  attribute.config = u64(8);
  attribute.period_or_frequency = u64(16);
  attribute.sample_type = u64(24);
  attribute.read_format = u64(32);
  attribute.flags = u64(40);
  attribute.branch_sample_type = u64(72);
  attribute.user_registers = u64(80);
  attribute.clock_id = load_or_zero<std::int32_t>(bytes, 92);
  attribute.sample = SampleLayout::of_sample(attribute.sample_type);
  attribute.trailer = SampleLayout::of_trailer(attribute.sample_type);
  return attribute;
}

std::string EventAttribute::display_name() const {
  return name.empty() ? base_name(*this) + modifiers(flags) : name;
}

bool EventAttributes::add(EventAttribute attribute, std::span<const std::byte> ids) {
  if (attributes_.size() >= kMaxEvents) return false;
  for (std::size_t i = 0; i < ids.size() / 8; ++i) {
    by_id_.try_emplace(load_word(ids, i), static_cast<std::uint32_t>(attributes_.size()));
  }
  attributes_.push_back(std::move(attribute));
  return true;
}

void EventAttributes::name_event(std::span<const std::byte> ids, std::size_t index, std::string_view name) {
  if (ids.size() >= 8) index = find(load_word(ids, 0)).value_or(index);
  if (index < attributes_.size()) attributes_[index].name = name;
}

std::optional<std::size_t> EventAttributes::find(std::uint64_t id) const {
  const auto found = by_id_.find(id);
  if (found != by_id_.end()) return found->second;
  // perf does not write ids where there is nothing to tell apart.
  if (attributes_.size() == 1) return 0;
  return std::nullopt;
}

// All events of a recording have their id at the same place: perf takes care of that, since nothing else
// would tell which layout a record has.
std::optional<std::size_t> EventAttributes::find_of_sample(std::span<const std::byte> body) const {
  if (attributes_.size() == 1) return 0;
  if (attributes_.empty()) return std::nullopt;
  const std::uint8_t word = attributes_[0].sample.id;
  if (word == SampleLayout::kAbsent || body.size() / 8 <= word) return std::nullopt;
  return find(load_word(body, word));
}

std::optional<std::uint64_t> EventAttributes::time_of_sample(std::span<const std::byte> body) const {
  const auto index = find_of_sample(body);
  if (!index) return std::nullopt;
  const std::uint8_t word = attributes_[*index].sample.time;
  if (word == SampleLayout::kAbsent || body.size() / 8 <= word) return std::nullopt;
  return load_word(body, word);
}

// With PERF_SAMPLE_IDENTIFIER the last word is the id of the event, whose trailer it is.  perf itself writes
// 0.
const EventAttribute* EventAttributes::find_of_other(std::span<const std::byte> body) const {
  if (attributes_.empty() || !attributes_[0].has_trailer()) return nullptr;
  const EventAttribute& first = attributes_[0];
  if (attributes_.size() == 1 || (first.sample_type & kSampleIdentifier) == 0 || body.size() < 8)
    return &first;
  const auto index = find(load<std::uint64_t>(body, body.size() - 8));
  return index ? &attributes_[*index] : &first;
}

std::size_t EventAttributes::trailer_bytes(std::span<const std::byte> body) const {
  const EventAttribute* attribute = find_of_other(body);
  return attribute == nullptr ? 0 : std::size_t{attribute->trailer.words} * 8;
}

std::optional<std::uint64_t> EventAttributes::time_of_other(std::span<const std::byte> body) const {
  const EventAttribute* attribute = find_of_other(body);
  if (attribute == nullptr || attribute->trailer.time == SampleLayout::kAbsent) return std::nullopt;
  const std::size_t bytes = std::size_t{attribute->trailer.words} * 8;
  if (body.size() < bytes) return std::nullopt;
  return load_word(body.last(bytes), attribute->trailer.time);
}

RecordOrigin EventAttributes::origin_of_other(std::span<const std::byte> body) const {
  const EventAttribute* attribute = find_of_other(body);
  if (attribute == nullptr || body.size() < trailer_bytes(body)) return {};
  const SampleLayout& layout = attribute->trailer;
  const auto trailer = body.last(trailer_bytes(body));
  RecordOrigin origin;
  if (layout.tid != SampleLayout::kAbsent) {
    origin.pid = load<std::int32_t>(trailer, std::size_t{layout.tid} * 8);
    origin.tid = load<std::int32_t>(trailer, std::size_t{layout.tid} * 8 + 4);
  }
  if (layout.cpu != SampleLayout::kAbsent) {
    origin.cpu = load<std::uint32_t>(trailer, std::size_t{layout.cpu} * 8);
  }
  return origin;
}

}  // namespace nodescope::perf
