#include "formats/recording/layout.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/byte_source.h"
#include "formats/recording/crc32.h"

namespace nodescope::recording {

namespace {

// Offsets in the file header.
constexpr std::size_t kFileMajor = 10;
constexpr std::size_t kFileMinor = 11;
constexpr std::size_t kFileFlags = 12;
constexpr std::size_t kFileCrc = 16;

// Offsets in the chunk header.
constexpr std::size_t kMajor = 8;
constexpr std::size_t kKind = 9;
constexpr std::size_t kCodec = 10;
constexpr std::size_t kSequence = 12;
constexpr std::size_t kTablesSequence = 16;
constexpr std::size_t kSampleCount = 20;
constexpr std::size_t kFirstSample = 24;
constexpr std::size_t kFirstTime = 32;
constexpr std::size_t kLastTime = 40;
constexpr std::size_t kRawBytes = 48;
constexpr std::size_t kStoredBytes = 52;
constexpr std::size_t kPayloadCrc = 56;
constexpr std::size_t kHeaderCrc = 60;

template <typename T>
void put(std::span<std::byte> bytes, std::size_t offset, T value) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::memcpy(bytes.subspan(offset, sizeof(T)).data(), &value, sizeof(T));
}

template <typename T>
T get(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.subspan(offset, sizeof(T)).data(), sizeof(T));
  return value;
}

bool starts_with(std::span<const std::byte> bytes, std::string_view magic) {
  return as_text(bytes).starts_with(magic);
}

}  // namespace

std::array<std::byte, kFileHeaderBytes> encode(const FileHeader& header) {
  std::array<std::byte, kFileHeaderBytes> bytes{};
  std::ranges::copy(as_byte_span(kFileMagic), bytes.begin());
  put(bytes, kFileMajor, header.major);
  put(bytes, kFileMinor, header.minor);
  put(bytes, kFileFlags, header.flags);
  put(bytes, kFileCrc, crc32(std::span(bytes).first(kFileCrc)));
  return bytes;
}

std::array<std::byte, kChunkHeaderBytes> encode(const ChunkHeader& header) {
  std::array<std::byte, kChunkHeaderBytes> bytes{};
  std::ranges::copy(as_byte_span(kChunkMagic), bytes.begin());
  put(bytes, kMajor, header.major);
  put(bytes, kKind, header.kind);
  put(bytes, kCodec, header.codec);
  put(bytes, kSequence, header.sequence);
  put(bytes, kTablesSequence, header.tables_sequence);
  put(bytes, kSampleCount, header.sample_count);
  put(bytes, kFirstSample, header.first_sample);
  put(bytes, kFirstTime, header.first_time_ns);
  put(bytes, kLastTime, header.last_time_ns);
  put(bytes, kRawBytes, header.raw_bytes);
  put(bytes, kStoredBytes, header.stored_bytes);
  put(bytes, kPayloadCrc, header.payload_crc);
  put(bytes, kHeaderCrc, crc32(std::span(bytes).first(kHeaderCrc)));
  return bytes;
}

std::optional<FileHeader> parse_file_header(std::span<const std::byte> bytes) {
  if (bytes.size() < kFileHeaderBytes || !starts_with(bytes, kFileMagic)) return std::nullopt;
  if (get<std::uint32_t>(bytes, kFileCrc) != crc32(bytes.first(kFileCrc))) return std::nullopt;
  return FileHeader{
      .major = get<std::uint8_t>(bytes, kFileMajor),
      .minor = get<std::uint8_t>(bytes, kFileMinor),
      .flags = get<std::uint32_t>(bytes, kFileFlags),
  };
}

std::optional<ChunkHeader> parse_chunk_header(std::span<const std::byte> bytes) {
  if (bytes.size() < kChunkHeaderBytes || !starts_with(bytes, kChunkMagic)) return std::nullopt;
  if (get<std::uint32_t>(bytes, kHeaderCrc) != crc32(bytes.first(kHeaderCrc))) return std::nullopt;
  return ChunkHeader{
      .major = get<std::uint8_t>(bytes, kMajor),
      .kind = get<ChunkKind>(bytes, kKind),
      .codec = get<Codec>(bytes, kCodec),
      .sequence = get<std::uint32_t>(bytes, kSequence),
      .tables_sequence = get<std::uint32_t>(bytes, kTablesSequence),
      .sample_count = get<std::uint32_t>(bytes, kSampleCount),
      .first_sample = get<std::uint64_t>(bytes, kFirstSample),
      .first_time_ns = get<std::int64_t>(bytes, kFirstTime),
      .last_time_ns = get<std::int64_t>(bytes, kLastTime),
      .raw_bytes = get<std::uint32_t>(bytes, kRawBytes),
      .stored_bytes = get<std::uint32_t>(bytes, kStoredBytes),
      .payload_crc = get<std::uint32_t>(bytes, kPayloadCrc),
  };
}

}  // namespace nodescope::recording
