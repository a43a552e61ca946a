#include "formats/recording/recording_reader.h"

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/byte_source.h"
#include "formats/recording/chunk_decoder.h"
#include "formats/recording/crc32.h"

namespace nodescope::recording {

namespace {

constexpr std::string_view kCutShort = "recording ends in the middle of a chunk";
constexpr std::string_view kDamagedPart = "damaged parts of the recording are skipped";
constexpr std::string_view kMissingChunks = "chunks are missing";
constexpr std::string_view kMalformed = "chunks whose content contradicts itself";
constexpr std::string_view kRepeated = "chunks that repeat earlier ones are skipped";
constexpr std::string_view kOtherKind = "chunks that this version does not know are skipped";
constexpr std::string_view kNotFinished = "recording was not finished";
constexpr std::string_view kBadFileHeader = "file header is damaged";

// A recording that takes more memory than this is read up to here: 1,000 million samples, in a page, which
// has 4 GB at most, 120 million.
constexpr std::uint64_t kMaxModelBytes = std::uint64_t{sizeof(std::size_t) == 4 ? 2 : 16} << 30;

// Each byte is summed once in a file without damage.  Headers that lie about sizes could have the same bytes
// summed again and again; past the budget a chunk that is not in order counts as damaged.
constexpr std::uint64_t kChecksumPasses = 4;

std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
  return a > std::numeric_limits<std::uint64_t>::max() - b ? std::numeric_limits<std::uint64_t>::max()
                                                           : a + b;
}

std::string at_byte(std::uint64_t offset) {
  return "byte " + std::to_string(offset);
}

// What the headers promise up to the first damage.  A header may lie, so no more than a good coding can hold.
std::size_t expected_samples(std::span<const std::byte> file) {
  constexpr std::uint64_t kMostPerByte = 64;
  std::uint64_t count = 0;
  std::size_t offset = kFileHeaderBytes;
  while (offset < file.size()) {
    const auto header = parse_chunk_header(file.subspan(offset));
    if (!header || header->stored_bytes > file.size() - offset - kChunkHeaderBytes) break;
    count = saturating_add(count, header->sample_count);
    offset += kChunkHeaderBytes + header->stored_bytes;
  }
  constexpr std::uint64_t kBytesPerSample = 16;
  return static_cast<std::size_t>(
      std::min({count, file.size() * kMostPerByte, kMaxModelBytes / 2 / kBytesPerSample}));
}

// Puts the chunks of one file together.
class Assembly {
 public:
  Assembly(std::span<const std::byte> file, Decompress decompress, Samples samples)
      : file_(file),
        decompress_(decompress),
        samples_(samples),
        scanner_(file, profile_.diagnostics),
        decoder_(profile_) {}

  Result<Profile> run(std::string_view name, Progress* progress);

 private:
  bool is_next(const Chunk& chunk);
  void add(const Chunk& chunk);
  void add_data(const Chunk& chunk);
  std::optional<std::span<const std::byte>> decompressed(const Chunk& chunk);
  void account();

  std::span<const std::byte> file_;
  Decompress decompress_;
  Samples samples_;
  Profile profile_;
  ChunkScanner scanner_;
  ChunkDecoder decoder_;
  std::vector<std::byte> raw_;
  std::uint64_t next_sequence_ = 0;
  std::uint64_t next_sample_ = 0;
  std::uint64_t damage_seen_ = 0;
  bool any_data_ = false;
  bool finished_ = false;
};

Result<Profile> Assembly::run(std::string_view name, Progress* progress) {
  if (samples_ == Samples::kRead) profile_.samples.reserve(expected_samples(file_));
  while (const auto chunk = scanner_.next()) {
    if (progress != nullptr) progress->done_bytes = chunk->offset;
    if (is_next(*chunk)) add(*chunk);
    if (decoder_.memory_bytes() > kMaxModelBytes) {
      profile_.diagnostics.error("recording is too large: the rest is left out", at_byte(chunk->offset));
      break;
    }
  }
  if (!any_data_ && !finished_) {
    return fail(ErrorCode::kInvalidInput, std::string(name) + ": a recording without a whole chunk");
  }
  account();
  decoder_.finish();
  return std::move(profile_);
}

bool Assembly::is_next(const Chunk& chunk) {
  const std::uint32_t sequence = chunk.header.sequence;
  if (sequence < next_sequence_) {
    profile_.diagnostics.warn(kRepeated, at_byte(chunk.offset));
    return false;
  }
  const std::uint64_t damage = profile_.diagnostics.count(kDamagedPart);
  if (sequence > next_sequence_ && damage == damage_seen_) {
    profile_.diagnostics.add(Severity::kError, kMissingChunks, at_byte(chunk.offset),
                             sequence - next_sequence_);
  }
  damage_seen_ = damage;
  next_sequence_ = std::uint64_t{sequence} + 1;
  return true;
}

void Assembly::add(const Chunk& chunk) {
  if (chunk.header.major != kMajorVersion) {
    profile_.diagnostics.error(kOtherKind, at_byte(chunk.offset));
  } else if (chunk.header.kind == ChunkKind::kData) {
    add_data(chunk);
  } else if (chunk.header.kind == ChunkKind::kEnd) {
    finished_ = true;
  } else {
    profile_.diagnostics.info(kOtherKind, at_byte(chunk.offset));
  }
}

void Assembly::add_data(const Chunk& chunk) {
  const auto payload = decompressed(chunk);
  if (!payload) {
    profile_.diagnostics.error(kMalformed, at_byte(chunk.offset) + ": cannot be decompressed");
    return;
  }
  any_data_ = true;
  // A writer whose disk was full writes the same samples again in its next chunk.
  const bool repeated = chunk.header.first_sample < next_sample_;
  const bool with_samples = !repeated && samples_ == Samples::kRead;
  if (const auto decoded = decoder_.decode(chunk.header, *payload, with_samples); !decoded) {
    profile_.diagnostics.error(kMalformed, at_byte(chunk.offset) + ": " + decoded.error().message);
    return;
  }
  if (!repeated) next_sample_ = saturating_add(chunk.header.first_sample, chunk.header.sample_count);
}

std::optional<std::span<const std::byte>> Assembly::decompressed(const Chunk& chunk) {
  const ChunkHeader& header = chunk.header;
  if (header.codec == Codec::kNone && header.raw_bytes == header.stored_bytes) return chunk.stored;
  if (header.codec != Codec::kZstd) return std::nullopt;
  raw_.resize(header.raw_bytes);
  if (!decompress_(chunk.stored, raw_)) return std::nullopt;
  return raw_;
}

// Whatever was written and is not here was lost.
void Assembly::account() {
  const std::uint64_t read = profile_.samples.size();
  const std::uint64_t promised = scanner_.promised_samples();
  if (promised > read && samples_ == Samples::kRead) profile_.lost_samples = promised - read;
  if (!finished_) profile_.diagnostics.warn(kNotFinished, "it has no end mark");
}

}  // namespace

bool is_recording(std::string_view head) {
  if (head.starts_with(kFileMagic)) return true;
  return head.size() > kFileHeaderBytes &&
         parse_chunk_header(as_byte_span(head.substr(kFileHeaderBytes))).has_value();
}

ChunkScanner::ChunkScanner(std::span<const std::byte> file, Diagnostics& diagnostics)
    : file_(file), diagnostics_(diagnostics), checksum_budget_(file.size() * kChecksumPasses) {}

std::optional<Chunk> ChunkScanner::next() {
  while (position_ < file_.size()) {
    Chunk chunk;
    const std::size_t begin = position_;
    const Verdict verdict = examine(begin, chunk);
    if (verdict == Verdict::kWhole) {
      position_ = begin + kChunkHeaderBytes + chunk.stored.size();
      return chunk;
    }
    position_ = find_magic(begin + 1);
    report(verdict, begin, position_);
  }
  return std::nullopt;
}

ChunkScanner::Verdict ChunkScanner::examine(std::size_t offset, Chunk& chunk) {
  const auto rest = file_.subspan(offset);
  const auto header = parse_chunk_header(rest);
  if (!header) return Verdict::kNoHeader;
  promised_samples_ = std::max(promised_samples_, saturating_add(header->first_sample, header->sample_count));
  const auto payload = rest.subspan(kChunkHeaderBytes);
  if (header->stored_bytes > payload.size()) return Verdict::kCut;
  if (header->raw_bytes > kMaxRawBytes || header->stored_bytes > checksum_budget_) return Verdict::kDamaged;
  checksum_budget_ -= header->stored_bytes;
  chunk = {offset, *header, payload.first(header->stored_bytes)};
  return crc32(chunk.stored) == header->payload_crc ? Verdict::kWhole : Verdict::kDamaged;
}

std::size_t ChunkScanner::find_magic(std::size_t from) const {
  return std::min(as_text(file_).find(kChunkMagic, from), file_.size());
}

void ChunkScanner::report(Verdict verdict, std::size_t begin, std::size_t end) {
  const std::string_view rest = as_text(file_.subspan(begin));
  const bool begun_header =
      rest.size() < kChunkHeaderBytes && rest.starts_with(kChunkMagic.substr(0, rest.size()));
  const bool cut = end == file_.size() && (verdict == Verdict::kCut || begun_header);
  if (cut) {
    diagnostics_.warn(kCutShort, at_byte(begin));
  } else {
    diagnostics_.error(kDamagedPart, at_byte(begin) + " to " + std::to_string(end));
  }
}

Result<Profile> read_recording(std::span<const std::byte> file, std::string_view name, Decompress decompress,
                               Progress* progress, Samples samples) {
  if (!is_recording(as_text(file))) {
    return fail(ErrorCode::kInvalidInput, std::string(name) + ": not a recording of nodescope");
  }
  const auto header = parse_file_header(file);
  if (header && header->major != kMajorVersion) {
    return fail(ErrorCode::kUnsupported,
                std::string(name) + ": a recording of version " + std::to_string(header->major) + "." +
                    std::to_string(header->minor) + "; this program reads version " +
                    std::to_string(kMajorVersion) + ": use the one that wrote it, or a newer one");
  }
  auto profile = Assembly(file, decompress, samples).run(name, progress);
  if (profile && !header) profile->diagnostics.error(kBadFileHeader, at_byte(0));
  return profile;
}

}  // namespace nodescope::recording
