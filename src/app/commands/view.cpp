#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "app/commands/command.h"
#include "app/heap_inputs.h"
#include "app/help.h"
#include "app/input.h"
#include "app/output.h"
#include "app/report_html.h"
#include "app/selection_options.h"
#include "app/server/recordings.h"
#include "app/show_page.h"
#include "app/source_files.h"
#include "page/heap/report.h"

namespace nodescope {

namespace {

constexpr double kMaxPort = 65535;

struct Options {
  std::vector<std::string> inputs;
  std::string output;
  std::uint16_t port = 0;
  bool no_open = false;
  bool sources = false;
  SelectionOptions selection;
  SourceMapOptions maps;
};

Result<Profile> read_selected(const std::string& path, const SelectionOptions& selection,
                              const SourceMapOptions& maps) {
  auto profile = read_input(path, maps);
  if (!profile || selection == SelectionOptions{}) return profile;
  auto selected = select(std::move(*profile), selection, joined_names({path}));
  if (!selected) return std::unexpected(selected.error());
  return std::move(selected->profile);
}

Result<void> write_report(const Options& options) {
  const std::vector<std::string> inputs = inputs_of(options.inputs);
  const std::vector<std::string> names = display_names(inputs);
  bool has_sources = false;
  SourceMapOptions maps = options.maps;
  maps.keeps_texts = options.sources;
  const auto write = [&](ByteSink& sink) -> Result<void> {
    ReportHtml report(sink);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      auto profile = read_selected(inputs[i], options.selection, maps);
      if (!profile) return std::unexpected(profile.error());
      if (options.sources) keep_sources_of_disk(*profile);
      has_sources = has_sources || !profile->sources.empty();
      if (auto added = report.add(names[i], *profile); !added) return added;
    }
    return report.finish();
  };
  if (options.output == "-") return write_output("-", write);
  auto file = OutputFile::create(options.output);
  if (!file) return std::unexpected(file.error());
  if (auto written = write(**file); !written) return written;
  if (has_sources) (*file)->restrict_readers();
  return (*file)->commit();
}

// A heap of gigabytes is no page: what it holds in aggregate, its largest objects and who holds them.
Result<void> write_heap_report(const page::HeapSession& heap, const std::string& path) {
  const auto write = [&](ByteSink& sink) -> Result<void> {
    ReportHtml report(sink);
    for (const std::string& question : page::questions_of_a_report(heap)) {
      if (auto added = report.add_reply(question, heap.ask(question)); !added) return added;
    }
    return report.finish();
  };
  // It holds strings of the process, passwords too.
  return write_output(path, write, Readers::kOwner);
}

Result<void> view(const Options& options) {
  const std::vector<std::string> inputs = inputs_of(options.inputs);
  if (!options.output.empty() && std::ranges::all_of(inputs, is_heap_input)) {
    auto recordings = server::read_recordings_or_heap(options.inputs, options.selection, options.maps);
    if (!recordings) return std::unexpected(recordings.error());
    return write_heap_report(*recordings->heap, options.output);
  }
  if (!options.output.empty()) return write_report(options);
  auto recordings = server::read_recordings_or_heap(options.inputs, options.selection, options.maps);
  if (!recordings) return std::unexpected(recordings.error());
  return show_page(std::move(*recordings), {options.port, !options.no_open});
}

}  // namespace

void add_view_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("view",
                                         "Show profiles or heap snapshots in the browser: heat map, flame "
                                         "graph, tables; classes, objects and what "
                                         "holds them. Only this machine can reach the page.");
  command->group("Look");
  command->add_option(
      "FILE", options->inputs,
      "Profiles of any format, or heap snapshots; several can be compared; - or nothing for standard "
      "input");
  command
      ->add_option("-o,--output", options->output,
                   "Write one HTML file instead, which needs neither nodescope nor a network")
      ->type_name("FILE");
  limit(*command->add_option("--port", options->port, "Port of 127.0.0.1 (a free one)")->type_name("N"), 1,
        kMaxPort);
  command->add_flag("--no-open", options->no_open, "Only print the address");
  command->add_flag("--sources", options->sources,
                    "With -o: put the texts of JavaScript files into it, as they are on this disk");
  add_selection_options(*command, options->selection);
  add_source_map_options(*command, options->maps);
  command->footer(
      "The address, which is secret and new each time, is printed on standard output. Ctrl-C ends the "
      "server.\n"
      "On a remote machine: ssh -N -L PORT:127.0.0.1:PORT HOST, with the same port on both sides.\n\n"
      "Examples\n"
      "  nodescope view app.nscope\n"
      "  nodescope view before.cpuprofile after.cpuprofile\n"
      "  nodescope view before.heapsnapshot after.heapsnapshot\n"
      "  nodescope view perf.data -o report.html      to mail it");
  command->callback([options, &run] { run = [options] { return view(*options); }; });
}

}  // namespace nodescope
