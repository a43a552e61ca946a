#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "analysis/selection.h"
#include "app/commands/command.h"
#include "app/function_report.h"
#include "app/input.h"
#include "app/output.h"
#include "app/views.h"
#include "os/process.h"
#include "os/terminal.h"

namespace nodescope {

// examples/service.js
extern const std::string_view kExampleService;

namespace {

struct Options {
  unsigned seconds = 10;
  std::string name = "nodescope-demo";
};

Result<Profile> record_service(unsigned seconds) {
  auto folder = TemporaryFolder::create();
  if (!folder) return std::unexpected(folder.error());
  const std::string script = folder->path() + "/service.js";
  auto written = write_output(script, [](ByteSink& sink) { return sink.write(kExampleService); });
  if (!written) return std::unexpected(written.error());
  fmt::print(stderr, "Running a small cluster with load for {} s, with V8's own profiler (node --cpu-prof)\n",
             seconds);
  const auto code = run_program(
      {"node", "--cpu-prof", "--cpu-prof-dir=" + folder->path(), script, std::to_string(seconds)});
  if (!code && code.error().code == ErrorCode::kNotFound) {
    return fail(ErrorCode::kNotFound, "the demo needs node on the PATH; on Debian: apt-get install nodejs");
  }
  if (!code) return std::unexpected(code.error());
  if (*code != 0)
    return fail(ErrorCode::kSystem, fmt::format("the demo's node ended with exit code {}", *code));
  const auto profiles = files_in(folder->path(), ".cpuprofile");
  if (profiles.empty()) return fail(ErrorCode::kNotFound, "node wrote no profile");
  auto profile = read_inputs(profiles);
  if (!profile) return std::unexpected(profile.error());
  // V8's profiler samples the clock, not the CPU: what is left are the moments when a process did something.
  Selection busy;
  busy.exclude = {R"(^\(idle\)$)"};
  auto selected = derive_selection(std::move(*profile), busy);
  if (!selected) return std::unexpected(selected.error());
  return std::move(selected->profile);
}

Result<void> write_view(const Profile& profile, const std::string& path) {
  const auto writer = writer_of_path(path);
  if (!writer) return fail(ErrorCode::kUnsupported, "no writer for " + path);
  return write_output(path, [&](ByteSink& sink) { return writer->write(profile, {}, sink); });
}

std::string summary(const Profile& profile) {
  FunctionTableOptions by_package;
  by_package.group = GroupBy::kPackage;
  TableTextOptions text;
  text.top = 15;
  text.max_columns = terminal_columns();
  return fmt::format("\n{}\n{}\n\n{}", accounting_text(profile, derive_accounting(profile)),
                     shares_text(derive_function_table(profile, by_package)),
                     function_table_text(derive_function_table(profile, {}), text));
}

Result<void> demo(const Options& options) {
  const auto profile = record_service(options.seconds);
  if (!profile) return std::unexpected(profile.error());
  const std::string svg = options.name + ".svg";
  const std::string recording = options.name + ".nscope";
  for (const std::string& path : {svg, recording}) {
    if (auto written = write_view(*profile, path); !written) return written;
  }
  auto shown = write_output("-", [&](ByteSink& sink) { return sink.write(summary(*profile)); });
  fmt::print(stderr, "\n{}: open it in a browser\n{}: nodescope report {} --my-code\n", svg, recording,
             recording);
  return shown;
}

}  // namespace

void add_demo_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("demo",
                                         "Run a sample service for ten seconds, then show where its time "
                                         "went. Writes nodescope-demo.svg and .nscope.");
  command->group("Set up");
  command->add_option("--seconds", options->seconds, "How long (10)")
      ->type_name("N")
      ->check(CLI::Range(1, 600));
  command->add_option("--name", options->name, "Where to write, without extension")->type_name("PATH");
  command->callback([options, &run] { run = [options] { return demo(*options); }; });
}

}  // namespace nodescope
