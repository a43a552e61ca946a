#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "app/commands/command.h"
#include "app/commands/core_take.h"
#include "app/core/commands.h"
#include "app/core/prompt.h"
#include "app/core/session.h"

namespace nodescope {

namespace {

struct Options {
  std::vector<std::string> words;
  std::string executable;
  std::vector<std::string> libraries;
  std::int32_t pid = 0;
  CoreCommandOptions command;
};

// What is asked for without a command: the first screen, and then, where somebody is there, the prompt.
Result<void> run_first_screen(CoreSession& session, const CoreCommandOptions& options) {
  const std::vector<std::string> info = {"info"};
  if (auto shown = run_core_command(session, info, options); !shown) return shown;
  const bool ends_here = options.json || !options.output.empty() || !commands_are_given();
  return ends_here ? Result<void>() : run_core_prompt(session, options);
}

Result<void> run_core(const Options& options) {
  std::vector<std::string> words = options.words;
  CoreSessionOptions session_options{
      .file = {}, .pid = options.pid, .binaries = {options.executable, options.libraries}};
  if (options.pid == 0) {
    if (words.empty())
      return fail(ErrorCode::kUsage,
                  "which core? nodescope core FILE [COMMAND], or --pid PID for a running process");
    session_options.file = words.front();
    words.erase(words.begin());
  }
  auto session = CoreSession::open(session_options);
  if (!session) return std::unexpected(session.error());
  if (words.empty()) return run_first_screen(**session, options.command);
  return run_core_command(**session, words, options.command);
}

std::string commands_text() {
  std::string text = "Commands\n";
  for (const CoreCommand& command : core_commands()) {
    const std::string usage = fmt::format("{} {}", command.name, command.argument);
    text += fmt::format("  {:<18}{}\n", usage, command.help);
    if (!command.aliases.empty()) text += fmt::format("  {:<18}  also: {}\n", "", command.aliases);
  }
  return text;
}

}  // namespace

void add_core_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "core", "Read the core file of a Node.js process as if it still lived, or examine a running one.");
  command->group("Live");
  command->add_option("words", options->words, "The core file, a command and what that takes")
      ->type_name("FILE [COMMAND [ARGUMENT]]");
  command->add_option("-p,--pid", options->pid, "A running process, stopped while the command reads it")
      ->type_name("PID")
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--exe", options->executable,
                   "The program that the process ran; found by its path and build id if not given")
      ->type_name("FILE");
  command->add_option("--libs", options->libraries, "A folder with the libraries that it had mapped")
      ->type_name("FOLDER");
  add_core_options(*command, options->command);
  add_source_map_options(*command, options->command.maps);
  command->footer(commands_text() +
                  "\nExamples\n"
                  "  nodescope core core.4711\n"
                  "  nodescope core core.4711 bt\n"
                  "  nodescope core core.4711 print 0x3f2a1c40d1 --depth 2\n"
                  "  nodescope core core.4711 snapshot -o app.heapsnapshot\n"
                  "  nodescope core --pid 4711 print 0x3f2a1c40d1");
  add_core_take_command(*command, run);
  command->callback([options, command, &run] {
    if (command->get_subcommands().empty()) run = [options] { return run_core(*options); };
  });
}

}  // namespace nodescope
