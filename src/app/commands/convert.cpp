#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/commands/command.h"
#include "app/function_report.h"
#include "app/input.h"
#include "app/note.h"
#include "app/output.h"
#include "app/selection_options.h"
#include "app/source_files.h"
#include "app/views.h"
#include "base/text.h"
#include "formats/format.h"

namespace nodescope {

namespace {

struct Options {
  std::vector<std::string> inputs;
  std::string output = "-";
  std::string to;
  bool json = false;
  bool sources = false;
  SelectionOptions selection;
  SourceMapOptions maps;
};

std::string writable_names() {
  std::string names;
  for (const Writer& writer : all_writers())
    names += fmt::format("{}{}", names.empty() ? "" : ", ", writer.name);
  return names;
}

Result<Writer> chosen_writer(const Options& options) {
  if (!options.to.empty()) {
    if (const auto writer = find_writer(options.to)) return *writer;
    return fail(ErrorCode::kUsage, fmt::format("--to {}: not one of {}", options.to, writable_names()));
  }
  if (const auto writer = writer_of_path(options.output)) return *writer;
  return fail(ErrorCode::kUsage,
              fmt::format("the format is not clear from {}: add --to with one of {}",
                          options.output == "-" ? "standard output" : options.output, writable_names()));
}

Result<void> print_summary(const std::string& path, const Writer& writer, const Selected& selected) {
  StringSink text;
  json::Writer json(text);
  json.begin_object();
  json.key("output").string(path);
  json.key("format").string(writer.name);
  json.key("samples").begin_object();
  write_accounting(json, selected.accounting);
  json.end_object();
  json.key("diagnostics");
  write_diagnostics(json, selected.profile.diagnostics);
  json.end_object();
  auto done = json.finish();
  note("{}\n", text.text());
  return done;
}

Result<void> convert(const Options& options) {
  const auto writer = chosen_writer(options);
  if (!writer) return std::unexpected(writer.error());
  SourceMapOptions maps = options.maps;
  maps.keeps_texts = options.sources;
  auto profile = read_inputs(options.inputs, maps);
  if (!profile) return std::unexpected(profile.error());
  auto selected = select(std::move(*profile), options.selection, joined_names(options.inputs));
  if (!selected) return std::unexpected(selected.error());
  if (options.sources) keep_sources_of_disk(selected->profile);
  const std::string path =
      writer->is_text ? options.output
                      : binary_output_path(options.output, fmt::format("profile{}", writer->extension));
  const ViewOptions view{options.selection.count_by(), display_names(inputs_of(options.inputs)).front()};
  auto written = write_as(*writer, selected->profile, view, path);
  if (written && options.json) return print_summary(path, *writer, *selected);
  return written;
}

}  // namespace

void add_convert_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "convert",
      "Read any profile and write it in another format. The format is that of the output's "
      "extension, or of --to.");
  command->group("Convert");
  command->add_option("FILE", options->inputs, "Profiles of any format; - or nothing for standard input");
  command->add_option("-o,--output", options->output, "Where to write; standard output if not given")
      ->type_name("FILE");
  command->add_option("--to", options->to, writable_names())->type_name("FORMAT");
  command->add_flag("--json", options->json, "Say on standard error, in JSON, what was written");
  command->add_flag(
      "--sources", options->sources,
      "Put the texts of JavaScript files into it, as they are on this disk (nscope, html, json)");
  add_selection_options(*command, options->selection);
  add_source_map_options(*command, options->maps);
  command->footer(
      "Examples\n"
      "  nodescope convert perf.data -o profile.speedscope.json\n"
      "  nodescope convert app.cpuprofile --to pprof > profile.pb.gz");
  command->callback([options, &run] { run = [options] { return convert(*options); }; });
}

}  // namespace nodescope
