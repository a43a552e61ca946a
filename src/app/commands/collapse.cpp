#include "formats/perf_script/collapse.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/commands/command.h"
#include "app/inlined_functions.h"
#include "app/input.h"
#include "app/output.h"
#include "app/selection_options.h"
#include "formats/folded/folded.h"
#include "formats/input.h"
#include "formats/perf_script/perf_script.h"

namespace nodescope {

namespace {

struct Options {
  std::string input = "-";
  std::string output = "-";
  CollapseOptions collapse;
  bool all = false;
  SourceMapOptions maps;
};

Result<void> collapse_text(ByteSource& source, const Options& options, ByteSink& sink) {
  Diagnostics inline_problems;
  InlinedFunctions inlined(options.collapse.context, inline_problems);
  CollapseOptions collapse_options = options.collapse;
  if (collapse_options.inlined) {
    collapse_options.resolve_inlined = [&](std::string_view address, std::string_view function,
                                           std::string_view module) {
      return inlined.at(address, function, module);
    };
  }
  Result<Diagnostics> diagnostics;
  with_read_options(source, [&](ReadOptions read) {
    if (collapse_options.inlined) read.threads = 1;  // the answers of addr2line are kept in one place
    diagnostics = collapse_perf_script(source, collapse_options, read, sink);
  });
  if (!diagnostics) return std::unexpected(diagnostics.error());
  diagnostics->merge(inline_problems);
  print_diagnostics(*diagnostics, std::string(source.name()));
  return {};
}

Result<Profile> read_any(std::unique_ptr<ByteSource> source, bool name_unknown_by_address,
                         const SourceMapOptions& maps) {
  const std::string name(source->name());
  Result<Profile> profile;
  with_read_options(*source, [&](ReadOptions read) {
    read.name_unknown_by_address = name_unknown_by_address;
    profile = read_profile(std::move(source), read);
  });
  if (!profile) return profile;
  if (auto mapped = map_to_sources(*profile, maps); !mapped) return std::unexpected(mapped.error());
  print_diagnostics(profile->diagnostics, name);
  return profile;
}

Result<Profile> select_event(Profile profile, const std::string& event, const std::string& name) {
  SelectionOptions options;
  options.event = event;
  auto selected = select(std::move(profile), options, name);
  if (!selected) return std::unexpected(selected.error());
  const std::uint64_t left_out = selected->accounting.other_events;
  if (event.empty() && left_out != 0 && !has_two_counts(selected->profile)) {
    Diagnostics diagnostics;
    diagnostics.add(Severity::kWarning, kOtherEventsLeftOut,
                    selected->profile.text(selected->profile.events()[1].name), left_out);
    print_diagnostics(diagnostics, name);
  }
  return std::move(selected->profile);
}

WriteOptions write_options_of(const CollapseOptions& options) {
  WriteOptions write;
  write.mark_kernel = options.kernel;
  write.mark_jit = options.jit;
  write.thread_label = options.tid   ? ThreadLabel::kNamePidTid
                       : options.pid ? ThreadLabel::kNamePid
                                     : ThreadLabel::kName;
  return write;
}

Result<void> collapse_profile(std::unique_ptr<ByteSource> source, const CollapseOptions& options,
                              const SourceMapOptions& maps, ByteSink& sink) {
  if (options.inlined || options.context || options.srcline) {
    return fail(ErrorCode::kUsage,
                fmt::format("{}: --inline, --context and --srcline need perf script text", source->name()));
  }
  const std::string name(source->name());
  auto profile = read_any(std::move(source), options.addrs, maps);
  if (!profile) return std::unexpected(profile.error());
  const auto selected = select_event(std::move(*profile), options.event_filter, name);
  if (!selected) return std::unexpected(selected.error());
  return kFoldedFormat.write(*selected, write_options_of(options), sink);
}

Result<void> collapse(Options options) {
  if (options.all) options.collapse.kernel = options.collapse.jit = true;
  auto source = open_input(options.input);
  if (!source) return std::unexpected(source.error());
  auto content = open_content(std::move(*source));
  if (!content) return std::unexpected(content.error());
  const bool is_text = kPerfScriptFormat.recognise((*content)->head());
  return write_output(options.output, [&](ByteSink& sink) {
    return is_text ? collapse_text(**content, options, sink)
                   : collapse_profile(std::move(*content), options.collapse, options.maps, sink);
  });
}

}  // namespace

void add_collapse_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("collapse",
                                         "Fold stacks into one line each, as stackcollapse-perf.pl does. On "
                                         "perf script text the output is the script's to "
                                         "the byte; any other profile works too.");
  command->group("Convert");
  CollapseOptions& collapse_options = options->collapse;
  command->add_option("FILE", options->input, "The profile; - or nothing for standard input");
  command->add_option("-o,--output", options->output, "Where to write; standard output if not given")
      ->type_name("FILE");
  command->add_flag("--pid", collapse_options.pid, "Process names with their pid: node-4711");
  command->add_flag("--tid", collapse_options.tid, "Process names with their pid and tid: node-4711/4712");
  command->add_flag("--inline", collapse_options.inlined, "Un-inline with addr2line (perf script text only)");
  command->add_flag("--all", options->all, "All annotations: --kernel --jit");
  command->add_flag("--kernel", collapse_options.kernel, "Annotate kernel functions with _[k]");
  command->add_flag("--jit", collapse_options.jit, "Annotate JIT functions with _[j]");
  command->add_flag("--context", collapse_options.context, "With --inline: source context");
  command->add_flag("--srcline", collapse_options.srcline, "Source lines from perf script's -F +srcline");
  command->add_flag("--addrs", collapse_options.addrs,
                    "Raw addresses where symbols are missing (perf script text and perf.data)");
  command
      ->add_option("--event-filter", collapse_options.event_filter,
                   "The event to take; the first one if not given")
      ->type_name("EVENT");
  add_source_map_options(*command, options->maps);
  command->footer("Example\n  perf script | nodescope collapse --all > out.folded");
  command->callback([options, &run] { run = [options] { return collapse(*options); }; });
}

}  // namespace nodescope
