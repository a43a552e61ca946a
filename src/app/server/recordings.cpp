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

namespace nodescope::server {

namespace {

constexpr int kFastestLevel = 1;

enum class Telling : bool { kNothing, kDiagnostics };

// Nothing where it is another file, or one that cannot be mapped: a pipe, a compressed one.
std::optional<Result<Recording>> take_as_it_is(ByteSource& source, SourceFiles& sources, Telling telling) {
  const auto file = source.mapped();
  if (!file || !recording::is_recording(as_text(*file))) return std::nullopt;
  Recording taken{{}, std::string(as_text(*file))};
  const std::string name(source.name());
  const auto names = read_recording_without_samples(as_byte_span(taken.bytes), name);
  if (!names) return std::unexpected(names.error());
  if (telling == Telling::kDiagnostics) print_diagnostics(names->diagnostics, name);
  sources.add(*names);
  return taken;
}

Result<Recording> convert(std::unique_ptr<ByteSource> source, const SelectionOptions& selection,
                          SourceFiles& sources) {
  const std::string name(source->name());
  auto profile = read_input(std::move(source));
  if (!profile) return std::unexpected(profile.error());
  if (selection != SelectionOptions{}) {
    auto selected = select(std::move(*profile), selection, name);
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
    if (auto taken = take_as_it_is(**source, sources, Telling::kDiagnostics)) return std::move(*taken);
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

Result<Recordings> read_recordings_or_heap(const std::vector<std::string>& paths,
                                           const SelectionOptions& selection) {
  const std::vector<std::string> inputs = inputs_of(paths);
  const auto heaps = std::ranges::count_if(inputs, is_heap_input);
  if (heaps == 0) return read_recordings(paths, selection);
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
  auto taken = take_as_it_is(**source, recordings.sources, Telling::kNothing);
  if (!taken) return fail(ErrorCode::kInvalidInput, path + " is no recording any more");
  if (!*taken) return std::unexpected(taken->error());
  (*taken)->name = display_names({path}).front();
  recordings.list.push_back(std::move(**taken));
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
