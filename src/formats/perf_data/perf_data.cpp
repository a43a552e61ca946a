#include "formats/perf_data/perf_data.h"

#include "formats/perf_data/recording.h"
#include "formats/perf_data/session.h"

namespace nodescope {

namespace {

// A mapped file of any size is read in place.
constexpr std::uint64_t kMaxBytesInMemory = std::uint64_t{4} << 30;

bool recognise(std::string_view head) {
  return head.starts_with("PERFILE2") || head.starts_with("2ELIFREP") || head.starts_with("PERFFILE");
}

Result<Profile> read(ByteSource& source, const ReadOptions& options) {
  std::string storage;
  const auto bytes = map_or_read_whole(source, storage, kMaxBytesInMemory);
  if (!bytes) return std::unexpected(bytes.error());
  if (options.progress != nullptr) options.progress->total_bytes = bytes->size();
  Profile profile;
  perf::Recording recording;
  const auto parts = perf::parse_file_header(*bytes, recording, profile.diagnostics);
  if (!parts) return fail(parts.error(), source.name());
  perf::Session session(recording, options, source.name(), profile);
  if (auto result = session.read(*parts); !result) return fail(result.error(), source.name());
  return profile;
}

}  // namespace

const Format kPerfDataFormat = {
    .name = "perf-data",
    .extension = "",
    .description = "perf.data of perf record, as a file or from a pipe",
    .recognise = recognise,
    .read = read,
    .write = nullptr,
};

}  // namespace nodescope
