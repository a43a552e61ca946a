#include "app/server/recordings.h"

#include <zstd.h>

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "app/input.h"
#include "formats/recording/chunk_decoder.h"
#include "formats/recording/recording_reader.h"
#include "formats/recording/recording_writer.h"

namespace nodescope::server {

namespace {

constexpr int kFastestLevel = 1;
// Names are all that is kept of a recording here.
constexpr std::uint64_t kMaxNameBytes = std::uint64_t{1} << 30;

// What the chunks of a .nscope file define, without its samples.  The page looks at these, and at damage.
class Definitions {
 public:
  bool add(const recording::Chunk& chunk) {
    const recording::ChunkHeader& header = chunk.header;
    std::span<const std::byte> payload = chunk.stored;
    if (header.codec == recording::Codec::kZstd) {
      raw_.resize(header.raw_bytes);
      const std::size_t size = ZSTD_decompress(raw_.data(), raw_.size(), payload.data(), payload.size());
      if (size != raw_.size()) return true;
      payload = raw_;
    }
    (void)decoder_.decode(header, payload, false);
    return decoder_.memory_bytes() < kMaxNameBytes;
  }

  const Profile& finish() {
    decoder_.finish();
    return profile_;
  }

 private:
  Profile profile_;
  recording::ChunkDecoder decoder_{profile_};
  std::vector<std::byte> raw_;
};

// Nothing where the file is not a whole .nscope file of a version that we know: then the ordinary reader has
// a word to say.
std::optional<Recording> take_as_it_is(ByteSource& source, SourceFiles& sources) {
  const auto file = source.mapped();
  if (!file || !recording::is_recording(as_text(*file))) return std::nullopt;
  const auto header = recording::parse_file_header(*file);
  if (!header || header->major != recording::kMajorVersion) return std::nullopt;
  Recording taken{{}, std::string(as_text(*file))};
  Diagnostics damage;
  recording::ChunkScanner scanner(as_byte_span(taken.bytes), damage);
  Definitions definitions;
  bool any = false;
  while (const auto chunk = scanner.next()) {
    any = true;
    if (!definitions.add(*chunk)) break;
  }
  if (!any) return std::nullopt;
  print_diagnostics(damage, std::string(source.name()));
  sources.add(definitions.finish());
  return taken;
}

Result<Recording> convert(std::unique_ptr<ByteSource> source, const SelectionOptions& selection,
                          SourceFiles& sources) {
  auto profile = read_input(std::move(source));
  if (!profile) return std::unexpected(profile.error());
  if (selection != SelectionOptions{}) {
    auto selected = select(std::move(*profile), selection);
    if (!selected) return std::unexpected(selected.error());
    profile = std::move(selected->profile);
  }
  auto bytes = to_recording(*profile);
  if (!bytes) return std::unexpected(bytes.error());
  sources.add(*profile);
  return Recording{{}, std::move(*bytes)};
}

Result<Recording> read_one(const std::string& path, const SelectionOptions& selection, SourceFiles& sources) {
  auto source = open_input(path);
  if (!source) return std::unexpected(source.error());
  if (selection == SelectionOptions{}) {
    if (auto taken = take_as_it_is(**source, sources)) return std::move(*taken);
  }
  return convert(std::move(*source), selection, sources);
}

class BytesSink final : public ByteSink {
 public:
  Result<void> write(std::string_view bytes) override {
    bytes_ += bytes;
    return {};
  }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

}  // namespace

Result<Recordings> read_recordings(const std::vector<std::string>& paths, const SelectionOptions& selection) {
  const std::vector<std::string> inputs = inputs_of(paths);
  const std::vector<std::string> names = display_names(inputs);
  Recordings recordings;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    auto recording = read_one(inputs[i], selection, recordings.sources);
    if (!recording) return std::unexpected(recording.error());
    recording->name = names[i];
    recordings.list.push_back(std::move(*recording));
  }
  return recordings;
}

Result<std::string> to_recording(const Profile& profile) {
  BytesSink sink;
  RecordingOptions options;
  options.zstd_level = kFastestLevel;
  if (auto written = RecordingWriter(sink, options).finish(profile); !written)
    return std::unexpected(written.error());
  return sink.take();
}

}  // namespace nodescope::server
