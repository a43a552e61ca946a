#pragma once

// The fixed parts of a .nscope file, as docs/formats.md specifies them.  All numbers are little-endian.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace nodescope::recording {

// Lines, a control-Z and bytes that a text transfer would change, as PNG has them.
inline constexpr std::string_view kFileMagic = "NSCOPE\r\n\x1A\n";
inline constexpr std::uint8_t kMajorVersion = 1;
inline constexpr std::uint8_t kMinorVersion = 1;
inline constexpr std::size_t kFileHeaderBytes = 20;

// 0xF5 occurs in no UTF-8 text.
inline constexpr std::string_view kChunkMagic = "\xF5NSchunk";
inline constexpr std::size_t kChunkHeaderBytes = 64;

// A chunk that claims more is damaged.  Writers stay near 1 MiB but for the texts of sources, and never reach
// this.
inline constexpr std::uint32_t kMaxRawBytes = 64u << 20;

struct FileHeader {
  std::uint8_t major = kMajorVersion;
  std::uint8_t minor = kMinorVersion;
  std::uint32_t flags = 0;

  bool operator==(const FileHeader&) const = default;
};

enum class ChunkKind : std::uint8_t { kData = 1, kEnd = 2 };
enum class Codec : std::uint8_t { kNone = 0, kZstd = 1 };

struct ChunkHeader {
  std::uint8_t major = kMajorVersion;
  ChunkKind kind = ChunkKind::kData;
  Codec codec = Codec::kZstd;
  // Counts up from 0, by one for each chunk.
  std::uint32_t sequence = 0;
  // The chunk at which the tables that this one refers to began; its own number if they begin anew here.
  std::uint32_t tables_sequence = 0;
  std::uint32_t sample_count = 0;
  // How many samples the chunks before hold; so a reader knows how many a hole took.
  std::uint64_t first_sample = 0;
  // Of the samples in this chunk; both 0 when there are none.
  std::int64_t first_time_ns = 0;
  std::int64_t last_time_ns = 0;
  std::uint32_t raw_bytes = 0;
  std::uint32_t stored_bytes = 0;
  std::uint32_t payload_crc = 0;

  bool operator==(const ChunkHeader&) const = default;
};

std::array<std::byte, kFileHeaderBytes> encode(const FileHeader& header);
std::array<std::byte, kChunkHeaderBytes> encode(const ChunkHeader& header);

// Nothing if the magic or the checksum is wrong, or there are too few bytes.
std::optional<FileHeader> parse_file_header(std::span<const std::byte> bytes);
std::optional<ChunkHeader> parse_chunk_header(std::span<const std::byte> bytes);

// Sections of a chunk's payload: one byte id, varint size, content.  Unknown ones are skipped.
enum class Section : std::uint8_t {
  kStrings = 1,
  kFrames = 2,
  kStacks = 3,
  kEvents = 4,
  kProcesses = 5,
  kThreads = 6,
  kMappings = 7,
  kMarkers = 8,
  kFacts = 9,
  kDiagnostics = 10,
  kTotals = 11,
  kSamples = 12,
  kSources = 13,
};

// Bits of the samples section's flag byte.
inline constexpr std::uint8_t kOneTime = 1;    // all samples have the chunk's first time
inline constexpr std::uint8_t kOneWeight = 2;  // all samples have the same weight

// A frame's flag byte: bits 0-3 FrameKind, bits 4-6 JsTier, bit 7 inlined.
inline constexpr unsigned kFrameKindMask = 0x0F;
inline constexpr unsigned kFrameTierShift = 4;
inline constexpr unsigned kFrameTierMask = 0x07;
inline constexpr unsigned kFrameInlined = 0x80;

}  // namespace nodescope::recording
