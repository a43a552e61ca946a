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

struct JitDump::Header {
  std::uint32_t size_bytes = 0;
  std::int32_t pid = 0;
  bool has_processor_times = false;
};

class JitDump::Parser {
 public:
  enum class Stop : std::uint8_t { kEnd, kCutOff, kDamaged };

  explicit Parser(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  Stop parse_records(std::span<const std::byte> bytes, std::size_t file_offset) {
    while (offset_ < bytes.size()) {
      const auto rest = bytes.subspan(offset_);
      const auto header = ByteReader(rest).read<RecordHeader>();
      if (!header) return Stop::kCutOff;
      if (header->size < kRecordHeaderBytes) return Stop::kDamaged;
      const std::uint32_t size = size_of(*header, rest);
      if (size > rest.size()) return Stop::kCutOff;
      parse_record(*header, rest.subspan(kRecordHeaderBytes, size - kRecordHeaderBytes),
                   file_offset + offset_);
      offset_ += size;
      const bool is_about_next =
          header->kind == RecordKind::kDebugInfo || header->kind == RecordKind::kUnwindingInfo;
      if (!is_about_next) used_bytes_ = offset_;
    }
    return Stop::kEnd;
  }

  std::size_t offset() const { return offset_; }
  // Up to the end of the last record that does not wait for another.
  std::size_t used_bytes() const { return used_bytes_; }
  std::vector<JitCode> take_codes() { return std::move(codes_); }

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
    by_index_.insert_or_assign(*index, codes_.size());
    codes_.push_back({.time = time,
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
    const bool known = moved != by_index_.end();
    // Code that nothing is known about takes the place of what was there.
    JitCode code = known ? codes_[moved->second] : JitCode{};
    code.time = time;
    code.range = {Address{*address}, Address{*address + *size}};
    codes_.push_back(code);
    return known;
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

  Diagnostics& diagnostics_;
  std::vector<JitCode> codes_;
  std::size_t offset_ = 0;
  std::size_t used_bytes_ = 0;
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

Result<JitDump::Header> JitDump::parse_header(std::span<const std::byte> bytes) {
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
  return Header{*header_bytes, static_cast<std::int32_t>(*pid), (*flags & kFlagProcessorTimes) != 0};
}

Result<JitDump> JitDump::parse(std::span<const std::byte> bytes, Diagnostics& diagnostics) {
  const auto header = parse_header(bytes);
  if (!header) return std::unexpected(header.error());
  JitDump dump;
  dump.pid_ = header->pid;
  dump.has_processor_times_ = header->has_processor_times;
  Parser parser(diagnostics);
  const Parser::Stop stop = parser.parse_records(bytes.subspan(header->size_bytes), header->size_bytes);
  if (stop != Parser::Stop::kEnd) {
    diagnostics.warn("jitdump is damaged: read up to there",
                     fmt::format("{} at byte {}",
                                 stop == Parser::Stop::kCutOff ? "cut off in the middle of a record"
                                                               : "record smaller than its header",
                                 header->size_bytes + parser.offset()));
  }
  dump.codes_ = parser.take_codes();
  std::ranges::stable_sort(dump.codes_, {}, &JitCode::time);
  return dump;
}

Result<JitDump::Gain> JitDump::parse_gain(std::span<const std::byte> bytes, bool is_begin,
                                          Diagnostics& diagnostics) {
  std::size_t header_bytes = 0;
  if (is_begin) {
    if (bytes.size() < kHeaderBytes) return Gain{};
    const auto header = parse_header(bytes);
    if (!header) return std::unexpected(header.error());
    header_bytes = header->size_bytes;
  }
  Parser parser(diagnostics);
  if (parser.parse_records(bytes.subspan(header_bytes), header_bytes) == Parser::Stop::kDamaged)
    return fail(ErrorCode::kInvalidInput, "a jitdump with a record smaller than its header");
  return Gain{parser.take_codes(), header_bytes + parser.used_bytes()};
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
