#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "app/command_line.h"
#include "app/commands/command.h"
#include "app/help.h"
#include "app/output.h"
#include "app/version.h"

namespace nodescope {

namespace {

// Text that roff shows as it is.
std::string roff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      if ((c == '.' || c == '\'') && (escaped.empty() || escaped.back() == '\n')) escaped += "\\&";
      escaped += c;
    }
  }
  return escaped;
}

std::string options_text(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;
    const std::string names = option->get_positional() ? option->get_name(true) : option_names(*option);
    text += fmt::format(".TP\n.B {}\n{}\n", roff(names), roff(option->get_description()));
  }
  return text;
}

// Every command below `app`, and those below them.
std::string commands_text(const CLI::App& app, const std::string& path) {
  std::string text;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_group().empty()) continue;
    const std::string name = path + " " + command->get_name();
    text +=
        fmt::format(".SS {}\n{}\n{}", roff(name), roff(command->get_description()), options_text(*command));
    if (!command->get_footer().empty())
      text += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(command->get_footer()));
    text += commands_text(*command, name);
  }
  return text;
}

std::string manual(const CLI::App& app) {
  std::string text = fmt::format(R"(.TH NODESCOPE 1 "" "nodescope {}" "User Commands"
.SH NAME
nodescope \- shows what a Node.js process is doing, from outside
.SH SYNOPSIS
.B nodescope
COMMAND [OPTIONS]
.SH DESCRIPTION
{}
.SH COMMANDS
)",
                                 kVersion, roff(app.get_description()));
  return text + commands_text(app, "nodescope") + R"(.SH EXIT STATUS
0 when done, 1 when something failed, 2 for wrong usage, 130 when interrupted.
.SH FILES
.TP
.B /tmp/perf\-PID.map, jit\-PID.dump
Names of JIT code that V8 wrote. In a folder that everybody may write to, only files of root and of the user are used.
.SH SEE ALSO
.BR perf\-record (1),
.BR perf\-script (1)
)";
}

Result<void> man() {
  CommandLine command_line;
  return write_output("-", [&](ByteSink& sink) { return sink.write(manual(command_line.app())); });
}

}  // namespace

void add_man_command(CLI::App& app, Run& run) {
  CLI::App* command = app.add_subcommand("man", "Print the man page. Read it with: nodescope man | man -l -");
  command->group("Set up");
  command->callback([&run] { run = man; });
}

}  // namespace nodescope
