#include "formats/recording/recording.h"

#include <zstd.h>

#include <string>

#include "formats/recording/recording_reader.h"
#include "formats/recording/recording_writer.h"

namespace nodescope {

namespace {

// A day of four threads takes 40 MB.  A mapped file of any size is read in place.
constexpr std::uint64_t kMaxBytesInMemory = std::uint64_t{4} << 30;

bool decompress_zstd(std::span<const std::byte> stored, std::span<std::byte> raw) {
  return ZSTD_decompress(raw.data(), raw.size(), stored.data(), stored.size()) == raw.size();
}

Result<Profile> read(ByteSource& source, const ReadOptions& options) {
  std::string storage;
  const auto file = map_or_read_whole(source, storage, kMaxBytesInMemory);
  if (!file) return std::unexpected(file.error());
  return recording::read_recording(*file, source.name(), decompress_zstd, options.progress);
}

Result<void> write(const Profile& profile, const WriteOptions&, ByteSink& sink) {
  return RecordingWriter(sink).finish(profile);
}

}  // namespace

Result<Profile> read_recording_without_samples(std::span<const std::byte> file, std::string_view name) {
  return recording::read_recording(file, name, decompress_zstd, nullptr, recording::Samples::kLeftOut);
}

constexpr Format kRecordingFormat = {
    .name = "nscope",
    .extension = ".nscope",
    .description = "nodescope recording: everything, small and fast to open",
    .recognise = recording::is_recording,
    .read = read,
    .write = write,
};

}  // namespace nodescope
