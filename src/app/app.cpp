#include "app/app.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "app/command_line.h"
#include "base/text.h"
#include "os/output_file.h"

namespace nodescope {

namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

int print_error(const Error& error) {
  // A list in a message has a line for each of its entries.
  const char* prefix = "nodescope: ";
  for (const auto line : std::views::split(std::string_view(error.message), '\n')) {
    fmt::print(stderr, "{}{}\n", prefix, printable(std::string_view(line.begin(), line.end())));
    prefix = "  ";
  }
  return error.code == ErrorCode::kUsage ? kWrongUsage : kFailed;
}

// `record … -- command`: the command's arguments are its own.  Elsewhere "--" ends the options, as usual.
int find_program(int argc, char** argv) {
  if (argc < 2 || argv[1] != std::string_view("record")) return argc;
  const auto* end = std::find(argv, argv + argc, std::string_view("--"));
  return static_cast<int>(end - argv);
}

int run_command_line(int argc, char** argv) {
  const int own = find_program(argc, argv);
  CommandLine command_line(std::vector<std::string>(argv + std::min(own + 1, argc), argv + argc));
  try {
    command_line.app().parse(own, argv);
  } catch (const CLI::ParseError& error) {
    // Help and version arrive here too, with the exit code 0.
    return command_line.app().exit(error) == 0 ? 0 : kWrongUsage;
  }
  const auto done = command_line.run();
  return done ? 0 : print_error(done.error());
}

}  // namespace

int run_app(int argc, char** argv) {
  install_signal_handlers();
  try {
    return run_command_line(argc, argv);
  } catch (const std::bad_alloc&) {
    return print_error({ErrorCode::kLimit, "out of memory"});
  } catch (const std::exception& error) {
    return print_error({ErrorCode::kSystem, error.what()});
  }
}

}  // namespace nodescope
