#include "app/commands/core_take.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "app/output.h"
#include "app/target_options.h"
#include "base/text.h"
#include "capture/core_take.h"
#include "json/writer.h"
#include "os/output_file.h"

namespace nodescope {

namespace {

struct Options {
  TargetOptions target;
  std::string output;
  bool json = false;
};

std::string text_of(const CoreTaken& taken, const std::string& path) {
  std::string text =
      fmt::format("{}: {} of memory, {} threads; stopped for {}\n", printable(path),
                  human_bytes(taken.copied_bytes), taken.threads, human_duration_ns(taken.stopped_ns));
  if (taken.unreadable_bytes != 0)
    text += fmt::format("{} could not be read and are zeros\n", human_bytes(taken.unreadable_bytes));
  return text;
}

Result<void> write_json(const CoreTaken& taken, const std::string& path, std::int32_t pid, ByteSink& sink) {
  json::Writer json(sink);
  json.begin_object();
  json.key("file").string(path);
  json.key("pid").integer(pid);
  json.key("stopped_ms").decimal(static_cast<std::int64_t>(taken.stopped_ns / 1000), 3);
  json.key("copied_bytes").count(taken.copied_bytes);
  json.key("unreadable_bytes").count(taken.unreadable_bytes);
  json.key("file_bytes").count(taken.file_bytes);
  json.key("threads").count(taken.threads);
  json.end_object();
  return json.finish();
}

Result<void> run_take(const Options& options) {
  const auto pid = select_one_target(options.target.spec());
  if (!pid) return std::unexpected(pid.error());
  const std::string path = options.output.empty() ? fmt::format("core.{}", *pid) : options.output;
  auto file = OutputFile::create(path, Readers::kOwner);
  if (!file) return std::unexpected(file.error());
  const auto taken = take_core(*pid, **file);
  if (!taken) return std::unexpected(taken.error());
  if (auto committed = (*file)->commit(); !committed) return committed;
  return write_output("-", [&](ByteSink& sink) {
    return options.json ? write_json(*taken, path, *pid, sink) : sink.write(text_of(*taken, path));
  });
}

}  // namespace

void add_core_take_command(CLI::App& core, Run& run) {
  auto options = std::make_shared<Options>();
  CLI::App* command = core.add_subcommand(
      "take", "Write a core of a running process, which stands still only while its memory is copied.");
  add_target_options(*command, options->target, HowMany::kOne);
  command->add_option("-o,--output", options->output, "Where to write (core.PID); only you may read the file")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "For programs");
  command->footer(
      "The memory is copied into that of nodescope, which needs as much as the process has written to, and "
      "the process goes on before the file is written. The file is sparse, and other debuggers read it, "
      "too.\n\n"
      "Examples\n"
      "  nodescope core take 4711\n"
      "  nodescope core take server.js -o server.core");
  command->callback([options, &run] { run = [options] { return run_take(*options); }; });
}

}  // namespace nodescope
