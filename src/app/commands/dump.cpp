#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>

#include "app/commands/command.h"
#include "app/help.h"
#include "app/live_source_maps.h"
#include "app/output.h"
#include "app/stack_dump.h"
#include "app/target_options.h"
#include "target/live_process.h"
#include "v8/process_view.h"

namespace nodescope {

namespace {

constexpr unsigned kMaxStopTimeoutMs = 1000;

struct Options {
  TargetOptions target;
  std::string output = "-";
  bool json = false;
  bool arguments = false;
  unsigned stop_timeout_ms = 50;
  SourceMapOptions maps;
};

Result<void> run_dump(const Options& options) {
  const auto pid = select_one_target(options.target.spec());
  if (!pid) return std::unexpected(pid.error());
  Diagnostics diagnostics;
  v8::ViewCache cache;
  auto process = LiveProcess::open(*pid);
  if (!process) return std::unexpected(process.error());
  auto view = v8::ProcessView::open(std::move(*process), cache, diagnostics);
  if (!view) return std::unexpected(view.error());
  LiveSourceMaps maps(options.maps);
  maps.remember({*pid});
  const StackDumpOptions dump{
      .json = options.json,
      .dump = {.arguments = options.arguments,
               .stop = {.deadline = std::chrono::milliseconds(options.stop_timeout_ms)}},
      .lead_to_sources = [&maps](Profile& profile) { return maps.apply(profile); }};
  const auto write = [&](ByteSink& sink) {
    return write_stack_dump(**view, dump, std::move(diagnostics), sink);
  };
  return write_output(options.output, write, options.arguments ? Readers::kOwner : Readers::kByUmask);
}

}  // namespace

void add_dump_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("dump", "Print the stack of every thread of a running Node.js process, now.");
  command->group("Live");
  add_target_options(*command, options->target, HowMany::kOne);
  command->add_option("-o,--output", options->output, "Where to write; standard output if not given")
      ->type_name("FILE");
  command->add_flag(
      "--args", options->arguments,
      "Receiver and arguments of each JavaScript function; in optimized code what is left of them");
  limit(
      *command
           ->add_option("--stop-timeout", options->stop_timeout_ms,
                        "How long threads have to stop; one in uninterruptible sleep (a disk, NFS, vfork) is "
                        "shown as not stopped (50)")
           ->type_name("MS"),
      1, kMaxStopTimeoutMs);
  command->add_flag("--json", options->json, "For programs");
  add_source_map_options(*command, options->maps);
  command->footer(
      "The process stands still for some milliseconds while its stacks are read; the output says for how "
      "long.\n\n"
      "Examples\n"
      "  nodescope dump 4711\n"
      "  nodescope dump server.js");
  command->callback([options, &run] { run = [options] { return run_dump(*options); }; });
}

}  // namespace nodescope
