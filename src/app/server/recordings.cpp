#include "app/server/recordings.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>

#include "app/heap_inputs.h"
#include "app/input.h"
#include "formats/recording/recording.h"
#include "formats/recording/recording_reader.h"
#include "formats/recording/recording_writer.h"
#include "os/file.h"
#include "source_maps/apply.h"

namespace nodescope::server {

namespace {

constexpr int kFastestLevel = 1;

enum class Telling : bool { kNothing, kDiagnostics };

SourceMapOptions for_a_page(SourceMapOptions maps) {
  maps.keeps_texts = true;
  maps.is_for_server = true;
  return maps;
}

bool has_mapped_frames(const Profile& profile) {
  for (std::size_t i = 0; i < profile.frames.size(); ++i) {
    if (profile.frames[FrameId{i}].generated != StringId{}) return true;
  }
  return false;
}

// Nothing where it is another file, or one that cannot be mapped: a pipe, a compressed one.
std::optional<Result<Recording>> take_as_it_is(ByteSource& source, const SourceMapOptions& maps,
                                               SourceFiles& sources, Telling telling) {
  const auto file = source.mapped();
  if (!file || !recording::is_recording(as_text(*file))) return std::nullopt;
  Recording taken{{}, std::string(as_text(*file))};
  const std::string name(source.name());
  auto names = read_recording_without_samples(as_byte_span(taken.bytes), name);
  if (!names) return std::unexpected(names.error());
  if (auto mapped = map_to_sources(*names, maps); !mapped) return std::unexpected(mapped.error());
  if (has_mapped_frames(*names) || names->facts.contains(std::string(kSourceMapsFact))) return std::nullopt;
  if (telling == Telling::kDiagnostics) print_diagnostics(names->diagnostics, name);
  sources.add(*names);
  return taken;
}

Result<Recording> convert(const Result<Profile>& profile, SourceFiles& sources) {
  if (!profile) return std::unexpected(profile.error());
  auto bytes = to_recording(*profile);
  if (!bytes) return std::unexpected(bytes.error());
  sources.add(*profile);
  return Recording{{}, std::move(*bytes)};
}

Result<Profile> read_selected(std::unique_ptr<ByteSource> source, const SelectionOptions& selection,
                              const SourceMapOptions& maps) {
  const std::string name(source->name());
  auto profile = read_input(std::move(source), maps);
  if (!profile || selection == SelectionOptions{}) return profile;
  auto selected = select(std::move(*profile), selection, name);
  if (!selected) return std::unexpected(selected.error());
  return std::move(selected->profile);
}

Result<Recording> read_one(const std::string& path, const SelectionOptions& selection,
                           const SourceMapOptions& maps, SourceFiles& sources) {
  auto source = open_input(path);
  if (!source) return std::unexpected(source.error());
  if (selection == SelectionOptions{}) {
    if (auto taken = take_as_it_is(**source, maps, sources, Telling::kDiagnostics)) return std::move(*taken);
  }
  return convert(read_selected(std::move(*source), selection, maps), sources);
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

Result<Recordings> read_recordings(const std::vector<std::string>& paths, const SelectionOptions& selection,
                                   const SourceMapOptions& options) {
  const SourceMapOptions maps = for_a_page(options);
  const std::vector<std::string> inputs = inputs_of(paths);
  const std::vector<std::string> names = display_names(inputs);
  Recordings recordings;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    auto recording = read_one(inputs[i], selection, maps, recordings.sources);
    if (!recording) return std::unexpected(recording.error());
    recording->name = names[i];
    recordings.list.push_back(std::move(*recording));
  }
  return recordings;
}

Result<Recordings> read_recordings_or_heap(const std::vector<std::string>& paths,
                                           const SelectionOptions& selection, const SourceMapOptions& maps) {
  const std::vector<std::string> inputs = inputs_of(paths);
  const auto heaps = std::ranges::count_if(inputs, is_heap_input);
  if (heaps == 0) return read_recordings(paths, selection, maps);
  if (heaps != std::ssize(inputs))
    return fail(ErrorCode::kUsage, "heap snapshots and profiles cannot be shown together");
  if (selection != SelectionOptions{})
    return fail(ErrorCode::kUsage, "options that select samples make no sense for a heap snapshot");
  auto snapshots = read_heap_snapshots(inputs);
  if (!snapshots) return std::unexpected(snapshots.error());
  Recordings recordings;
  recordings.heap = std::make_unique<const page::HeapSession>(std::move(*snapshots));
  return recordings;
}

Result<Recordings> read_own_recording(const std::string& path) {
  Recordings recordings;
  auto source = open_file(path);
  if (!source) return std::unexpected(source.error());
  const SourceMapOptions maps = for_a_page({});
  auto taken = take_as_it_is(**source, maps, recordings.sources, Telling::kNothing);
  auto recording = taken ? std::move(*taken) : convert(read_input_quietly(path, maps), recordings.sources);
  if (!recording) return std::unexpected(recording.error());
  recording->name = display_names({path}).front();
  recordings.list.push_back(std::move(*recording));
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
