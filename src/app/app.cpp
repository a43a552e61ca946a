#include "app/app.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iostream>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "app/command_line.h"
#include "app/note.h"
#include "base/text.h"
#include "os/output_file.h"
#include "os/terminal.h"

namespace nodescope {

namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

int print_error(const Error& error) {
  // A list in a message has a line for each of its entries.
  const char* prefix = "nodescope: ";
  for (const auto line : std::views::split(std::string_view(error.message), '\n')) {
    note("{}{}\n", prefix, printable(std::string_view(line.begin(), line.end())));
    prefix = "  ";
  }
  return error.code == ErrorCode::kUsage ? kWrongUsage : kFailed;
}

using Arguments = std::vector<std::string>;

// `record … -- command`: the command's arguments are its own.  Elsewhere "--" ends the options, as usual.
Arguments take_program(Arguments& arguments) {
  if (arguments.empty() || arguments[0] != "record") return {};
  const auto mark = std::ranges::find(arguments, "--");
  if (mark == arguments.end()) return {};
  Arguments program(mark + 1, arguments.end());
  arguments.erase(mark, arguments.end());
  return program;
}

// "help record" is "record --help", "help heap summary" is "heap summary --help".
void ask_for_help(Arguments& arguments) {
  if (arguments[0] != "help") return;
  arguments.erase(arguments.begin());
  arguments.resize(std::min<std::size_t>(arguments.size(), 2));
  arguments.emplace_back("--help");
}

int run_command_line(Arguments arguments) {
  CommandLine command_line(take_program(arguments));
  if (arguments.empty()) {
    note("{}", command_line.app().help());
    return kWrongUsage;
  }
  ask_for_help(arguments);
  if (!arguments[0].starts_with('-')) {
    if (auto known = command_line.check_command(arguments[0]); !known) return print_error(known.error());
  }
  try {
    std::ranges::reverse(arguments);  // as CLI11 takes them
    command_line.app().parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    // Help and version arrive here too, with the exit code 0.
    if (command_line.app().exit(error) != 0) return kWrongUsage;
    return std::cout.flush() ? 0 : print_error({ErrorCode::kSystem, "writing standard output failed"});
  }
  const auto done = command_line.run();
  if (done) return command_line.exit_code();
  const int code = print_error(done.error());
  return command_line.exit_code() != 0 ? command_line.exit_code() : code;
}

}  // namespace

int run_app(int argc, char** argv) {
  fill_standard_descriptors();
  install_signal_handlers();
  try {
    return run_command_line(Arguments(argv + std::min(argc, 1), argv + argc));
  } catch (const std::bad_alloc&) {
    return print_error({ErrorCode::kLimit, "out of memory"});
  } catch (const std::exception& error) {
    return print_error({ErrorCode::kSystem, error.what()});
  }
}

}  // namespace nodescope
