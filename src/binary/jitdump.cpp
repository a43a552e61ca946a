#include "binary/jitdump.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/byte_reader.h"
#include "base/flat_map.h"

namespace nodescope {

namespace {

constexpr std::uint32_t kMagic = 0x4A695444;         // "JiTD"
constexpr std::uint32_t kMagicSwapped = 0x4454694A;  // from a machine of the other byte order
constexpr std::uint32_t kHeaderBytes = 40;
constexpr std::uint32_t kRecordHeaderBytes = 16;
constexpr std::uint64_t kFlagProcessorTimes = 1;

enum class RecordKind : std::uint32_t { kLoad = 0, kMove = 1, kDebugInfo = 2, kUnwindingInfo = 4 };

struct RecordHeader {
  RecordKind kind;
  std::uint32_t size;  // with this header
  std::uint64_t time;
};
static_assert(sizeof(RecordHeader) == kRecordHeaderBytes);

// Could `bytes` begin with the record that follows `before`?
bool is_plausible_next(std::span<const std::byte> bytes, const RecordHeader& before) {
  constexpr std::uint64_t kFarAway = 3'600'000'000'000;  // an hour; threads may write a little out of order
  const auto header = ByteReader(bytes).read<RecordHeader>();
  if (!header || header->kind > RecordKind::kUnwindingInfo) return false;
  if (header->size < kRecordHeaderBytes || header->size > bytes.size()) return false;
  return header->time - before.time + kFarAway <= 2 * kFarAway;
}

// V8 of node 26 sometimes writes a greater size for a record of lines than the record has.  The number of
// lines is right, and up to 7 bytes of padding follow.  So the true size is one of eight, if another record
// is there; `bytes` begin with the record and go to the end of the file.
std::optional<std::uint32_t> true_size_of_lines(std::span<const std::byte> bytes,
                                                const RecordHeader& header) {
  constexpr std::size_t kMaxPadding = 7;
  const std::size_t end = std::min<std::size_t>(bytes.size(), header.size);
  ByteReader reader(bytes.first(end));
  reader.take(kRecordHeaderBytes + 8);
  const auto count = reader.read<std::uint64_t>();
  for (std::uint64_t i = 0; i < count.value_or(0) && !reader.failed(); ++i) {
    reader.take(16);
    reader.read_c_string();
  }
  if (reader.failed()) return std::nullopt;
  for (std::size_t size = reader.offset(); size <= reader.offset() + kMaxPadding && size < end; ++size) {
    if (is_plausible_next(bytes.subspan(size), header)) return static_cast<std::uint32_t>(size);
  }
  return std::nullopt;
}

// The first of a record's line entries, each of which is an address, a line, a column and a file name.  The
// rest is not read: V8 counts their addresses from 64 bytes before the code, other runtimes from the code
// itself, and nothing in the file tells which.
std::optional<SourcePlace> parse_first_line(std::span<const std::byte> entries) {
  ByteReader reader(entries);
  reader.take(8);
  const auto line = reader.read<std::uint32_t>();
  const auto column = reader.read<std::uint32_t>();
  const auto file = reader.read_c_string();
  if (!file) return std::nullopt;
  return SourcePlace{*file, *line, *column};
}

}  // namespace

class JitDump::Parser {
 public:
  Parser(JitDump& dump, Diagnostics& diagnostics) : dump_(dump), diagnostics_(diagnostics) {}

  void parse_records(std::span<const std::byte> bytes, std::size_t file_offset) {
    std::size_t offset = 0;
    while (offset < bytes.size()) {
      const auto rest = bytes.subspan(offset);
      const auto header = ByteReader(rest).read<RecordHeader>();
      if (!header) return damaged("cut off in the middle of a record", file_offset + offset);
      if (header->size < kRecordHeaderBytes)
        return damaged("record smaller than its header", file_offset + offset);
      const std::uint32_t size = size_of(*header, rest);
      if (size > rest.size()) return damaged("cut off in the middle of a record", file_offset + offset);
      parse_record(*header, rest.subspan(kRecordHeaderBytes, size - kRecordHeaderBytes),
                   file_offset + offset);
      offset += size;
    }
  }

 private:
  // Only a few records of a dump are wrong.  More attempts would let a hostile file cost a walk for every
  // record.
  static constexpr int kMaxRepairs = 1000;
  static constexpr std::uint32_t kMaxRepairedBytes = 1 << 20;

  std::uint32_t size_of(const RecordHeader& header, std::span<const std::byte> rest) {
    const bool is_lines = header.kind == RecordKind::kDebugInfo && header.size <= kMaxRepairedBytes;
    const bool is_last = header.size == rest.size();
    const bool fits = header.size < rest.size() && is_plausible_next(rest.subspan(header.size), header);
    if (!is_lines || is_last || fits || repairs_ >= kMaxRepairs) return header.size;
    ++repairs_;
    const auto size = true_size_of_lines(rest, header);
    if (!size) return header.size;
    diagnostics_.info("jitdump record with a wrong size: set right");
    return *size;
  }

  void damaged(std::string_view what, std::size_t offset) {
    diagnostics_.warn("jitdump is damaged: read up to there", fmt::format("{} at byte {}", what, offset));
  }

  void parse_record(const RecordHeader& header, std::span<const std::byte> body, std::size_t offset) {
    const auto parsed = header.kind == RecordKind::kLoad        ? parse_load(header.time, body)
                        : header.kind == RecordKind::kMove      ? parse_move(header.time, body)
                        : header.kind == RecordKind::kDebugInfo ? parse_debug_info(body)
                                                                : true;
    if (!parsed) diagnostics_.warn("jitdump record not understood", fmt::format("at byte {}", offset));
  }

  bool parse_load(std::uint64_t time, std::span<const std::byte> body) {
    ByteReader reader(body);
    reader.take(16);  // pid, tid, vma
    const auto address = reader.read<std::uint64_t>();
    const auto size = reader.read<std::uint64_t>();
    const auto index = reader.read<std::uint64_t>();
    const auto name = reader.read_c_string();
    if (!name || *address + *size < *address) return false;
    const auto code = reader.take(*size);
    const bool has_source = source_address_ == *address;
    by_index_.insert_or_assign(*index, dump_.codes_.size());
    dump_.codes_.push_back({.time = time,
                            .range = {Address{*address}, Address{*address + *size}},
                            .name = *name,
                            .code = code.value_or(std::span<const std::byte>()),
                            .source = has_source ? source_ : std::nullopt});
    source_address_.reset();
    return true;
  }

  bool parse_move(std::uint64_t time, std::span<const std::byte> body) {
    ByteReader reader(body);
    reader.take(24);  // pid, tid, vma, old address
    const auto address = reader.read<std::uint64_t>();
    const auto size = reader.read<std::uint64_t>();
    const auto index = reader.read<std::uint64_t>();
    if (!index || *address + *size < *address) return false;
    const auto moved = by_index_.find(*index);
    if (moved == by_index_.end()) return false;
    JitCode code = dump_.codes_[moved->second];
    code.time = time;
    code.range = {Address{*address}, Address{*address + *size}};
    dump_.codes_.push_back(code);
    return true;
  }

  // Belongs to the next load of the same address.
  bool parse_debug_info(std::span<const std::byte> body) {
    ByteReader reader(body);
    const auto address = reader.read<std::uint64_t>();
    const auto count = reader.read<std::uint64_t>();
    if (!count) return false;
    source_address_ = *address;
    source_ = *count == 0 ? std::nullopt : parse_first_line(body.subspan(reader.offset()));
    return true;
  }

  JitDump& dump_;
  Diagnostics& diagnostics_;
  std::optional<std::uint64_t> source_address_;
  std::optional<SourcePlace> source_;
  FlatMap<std::uint64_t, std::size_t> by_index_;
  int repairs_ = 0;
};

Result<JitDump> JitDump::read(std::unique_ptr<ByteSource> source, Diagnostics& diagnostics) {
  auto storage = std::make_unique<std::string>();
  const auto bytes = read_whole(*source, *storage, kMaxBytes);
  if (!bytes) return std::unexpected(bytes.error());
  auto dump = parse(*bytes, diagnostics);
  if (!dump) return fail(dump.error(), source->name());
  dump->source_ = std::move(source);
  dump->storage_ = std::move(storage);
  return dump;
}

Result<JitDump> JitDump::parse(std::span<const std::byte> bytes, Diagnostics& diagnostics) {
  ByteReader reader(bytes);
  const auto magic = reader.read<std::uint32_t>();
  reader.take(4);  // version
  const auto header_bytes = reader.read<std::uint32_t>();
  reader.take(8);  // machine, padding
  const auto pid = reader.read<std::uint32_t>();
  reader.take(8);  // time of creation
  const auto flags = reader.read<std::uint64_t>();
  if (magic == kMagicSwapped) {
    return fail(ErrorCode::kUnsupported, "a jitdump of a machine with the other byte order");
  }
  if (magic != kMagic || !flags || *header_bytes < kHeaderBytes || *header_bytes > bytes.size()) {
    return fail(ErrorCode::kInvalidInput, "not a jitdump");
  }
  JitDump dump;
  dump.pid_ = static_cast<std::int32_t>(*pid);
  dump.has_processor_times_ = (*flags & kFlagProcessorTimes) != 0;
  Parser(dump, diagnostics).parse_records(bytes.subspan(*header_bytes), *header_bytes);
  std::ranges::stable_sort(dump.codes_, {}, &JitCode::time);
  return dump;
}

bool JitTimeline::advance(std::uint64_t time) {
  bool replaced = false;
  for (; next_ < codes_.size() && clock_.to_recording_time(codes_[next_].time) <= time; ++next_) {
    const Range<Address> range = codes_[next_].range;
    in_place_.for_each_in(range, [&](Range<Address>, std::uint32_t index) { replaced |= used_[index]; });
    in_place_.assign(range, static_cast<std::uint32_t>(next_));
  }
  return replaced;
}

const JitCode* JitTimeline::find(Address address) {
  const std::uint32_t* index = in_place_.find(address);
  if (index == nullptr) return nullptr;
  used_[*index] = true;
  return &codes_[*index];
}

}  // namespace nodescope
