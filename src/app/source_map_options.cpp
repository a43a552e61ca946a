#include "app/source_map_options.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "app/source_map_folder.h"
#include "os/file.h"
#include "os/foreign_files.h"
#include "os/user.h"
#include "source_maps/apply.h"
#include "source_maps/source_names.h"

namespace nodescope {

namespace {

Result<std::string> read_of_disk(const std::string& name, std::uint64_t limit) {
  const auto path = path_of_source(name);
  if (!path) return fail(ErrorCode::kNotFound, name + " is no file");
  return read_regular_file(*path, limit);
}

// What only root can read is not shown.
Result<ReadNamedFile> reader_of_server() {
  auto opened = ForeignFiles::of_user(sudo_user().value_or(nobody()));
  if (!opened) return std::unexpected(opened.error());
  const auto files = std::make_shared<ForeignFiles>(std::move(*opened));
  return [files](const std::string& name, std::uint64_t limit) -> Result<std::string> {
    const auto path = path_of_source(name);
    if (!path) return fail(ErrorCode::kNotFound, name + " is no file");
    auto file = files->read(*path, limit);
    if (!file) return std::unexpected(file.error());
    return std::move(file->text);
  };
}

}  // namespace

void add_source_map_options(CLI::App& command, SourceMapOptions& options) {
  command
      .add_option("--source-maps", options.folder,
                  "Also source maps below DIR, by debugId or by name and content")
      ->type_name("DIR");
  command.add_flag("--no-source-maps", options.off, "Show the code that ran instead of its sources");
}

Result<void> map_to_sources(Profile& profile, const SourceMapOptions& options) {
  if (profile.facts.contains("container")) return map_to_sources(profile, options, ReadNamedFile());
  if (!options.is_for_server || !is_root()) return map_to_sources(profile, options, read_of_disk);
  auto read = reader_of_server();
  if (!read) return std::unexpected(read.error());
  return map_to_sources(profile, options, std::move(*read));
}

Result<void> map_to_sources(Profile& profile, const SourceMapOptions& options, ReadNamedFile read) {
  if (options.off) {
    if (!profile.sources.empty()) profile.facts[std::string(kSourceMapsFact)] = kSourceMapsOff;
    return {};
  }
  MapSources sources;
  sources.keeps_texts = options.keeps_texts;
  sources.read = std::move(read);
  SourceMapFolder folder;
  if (!options.folder.empty()) {
    auto opened = SourceMapFolder::open(options.folder);
    if (!opened) return std::unexpected(opened.error());
    folder = std::move(*opened);
    sources.find_elsewhere = [&folder](const std::string& file, const std::string* text) {
      return folder.find(file, text);
    };
  }
  apply_source_maps(profile, sources);
  return {};
}

}  // namespace nodescope
