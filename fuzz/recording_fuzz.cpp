#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "formats/recording/crc32.h"
#include "formats/recording/layout.h"
#include "formats/recording/recording.h"
#include "formats/recording/recording_reader.h"
#include "formats/recording/sample_block.h"
#include "formats/recording/varint.h"
#include "read_one.h"

namespace nodescope {
namespace {

using recording::ChunkHeader;

// The header that a payload needs in order to be believed: its samples' number and times.
void describe_samples(std::span<const std::byte> payload, ChunkHeader& header) {
  recording::SampleParser parser;
  recording::Cursor in(payload);
  while (in.remaining() > 0) {
    const auto section = static_cast<recording::Section>(in.byte());
    const auto content = in.take(in.varint());
    if (section != recording::Section::kSamples) continue;
    const recording::SampleBlock* block = parser.parse(content, 0);
    if (block == nullptr) continue;
    header.sample_count = static_cast<std::uint32_t>(block->size());
    header.last_time_ns = std::ranges::max(block->time_ns);
  }
}

// Checksums stop nearly all that a fuzzer can think of.  Here the input is the payloads of a recording, each
// behind two bytes of size and one that says whether tables begin anew and whether a chunk is missing before
// it; headers and sums are made to fit.
std::string with_right_checksums(std::string_view input) {
  const auto file_header = encode(recording::FileHeader{});
  std::string file(as_text(file_header));
  ChunkHeader header;
  header.codec = recording::Codec::kNone;
  while (input.size() >= 3) {
    const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(input[i]); };
    const std::size_t size = std::min<std::size_t>(byte(0) | byte(1) << 8, input.size() - 3);
    const std::uint8_t control = byte(2);
    const std::string_view payload = input.substr(3, size);
    input.remove_prefix(3 + size);
    if ((control & 2) != 0) ++header.sequence;
    if ((control & 1) != 0) header.tables_sequence = header.sequence;
    header.sample_count = 0;
    header.last_time_ns = 0;
    describe_samples(as_byte_span(payload), header);
    header.raw_bytes = header.stored_bytes = static_cast<std::uint32_t>(payload.size());
    header.payload_crc = recording::crc32(as_byte_span(payload));
    const auto encoded = encode(header);
    file += as_text(encoded);
    file += payload;
    ++header.sequence;
    header.first_sample += header.sample_count;
  }
  return file;
}

std::string write(const Profile& profile) {
  StringSink sink;
  NODESCOPE_CHECK(kRecordingFormat.write(profile, {}, sink));
  return sink.text();
}

// What was read is written so that it reads the same.
void check_round_trip(std::string_view file) {
  MemorySource source(file, "fuzz");
  const auto profile = kRecordingFormat.read(source, {});
  if (!profile) return;
  const std::string written = write(*profile);
  MemorySource again(written, "fuzz");
  const auto same = kRecordingFormat.read(again, {});
  NODESCOPE_CHECK(same.has_value());
  NODESCOPE_CHECK(same->samples.size() == profile->samples.size());
  NODESCOPE_CHECK(same->diagnostics == profile->diagnostics);
  NODESCOPE_CHECK(write(*same) == written);
}

}  // namespace
}  // namespace nodescope

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace nodescope;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (recording::is_recording(input)) return fuzz_reader(kRecordingFormat, data, size);
  const std::string file = with_right_checksums(input);
  fuzz_reader(kRecordingFormat, reinterpret_cast<const std::uint8_t*>(file.data()), file.size());
  check_round_trip(file);
  return 0;
}
