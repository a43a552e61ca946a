#include "app/core/prompt.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "app/note.h"
#include "app/output.h"
#include "base/text.h"
#include "os/line_input.h"
#include "os/terminal.h"

namespace nodescope {

namespace {

std::string help_text() {
  std::string text;
  for (const CoreCommand& command : core_commands())
    text += fmt::format("  {:<20}{}\n", fmt::format("{} {}", command.name, command.argument), command.help);
  return text +
         "  quit\n"
         "Options: --json, --all, --depth N (print), --shapes (objects), --redact (snapshot), -o FILE\n";
}

std::vector<std::string> first_words() {
  std::vector<std::string> words = {"help", "quit"};
  for (const CoreCommand& command : core_commands()) {
    words.emplace_back(command.name);
    for (std::string_view rest = command.aliases; !rest.empty();) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      words.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(rest.size(), end + 1));
    }
  }
  std::ranges::sort(words);
  return words;
}

std::vector<std::string> candidates(std::string_view line) {
  const bool is_first = !line.contains(' ');
  if (is_first) return first_words();
  return {"--all", "--depth", "--json", "--redact", "--shapes"};
}

struct Line {
  std::vector<std::string> words;
  CoreCommandOptions options;
};

Result<Line> parse_line(const std::string& text, const CoreCommandOptions& defaults) {
  Line line{{}, defaults};
  CLI::App app;
  app.set_help_flag();
  app.add_option("words", line.words);
  add_core_options(app, line.options);
  try {
    app.parse(text);
  } catch (const CLI::ParseError& error) {
    return fail(ErrorCode::kUsage, error.what());
  }
  return line;
}

Result<void> run_line(CoreSession& session, const Line& line) {
  if (line.words[0] == "help" || line.words[0] == "?")
    return write_output("-", [](ByteSink& sink) { return sink.write(help_text()); });
  return run_core_command(session, line.words, line.options);
}

}  // namespace

void add_core_options(CLI::App& app, CoreCommandOptions& options) {
  app.add_option("--depth", options.depth, "print: how deep objects within objects are shown (1)")
      ->type_name("N")
      ->check(CLI::Range(0, 20));
  app.add_flag("--all", options.all, "Cut nothing: all properties, elements and rows");
  app.add_flag("--shapes", options.shapes, "objects: those of a class by the properties that they have");
  app.add_flag("--redact", options.redact, "snapshot: leave out what strings say");
  app.add_option("-o,--output", options.output, "Where to write; standard output if not given")
      ->type_name("FILE");
  app.add_flag("--json", options.json, "For programs");
}

bool commands_are_given() {
  if (standard_input_is_terminal()) return standard_output_is_terminal();
  return standard_input_is_given();
}

Result<void> run_core_prompt(CoreSession& session, const CoreCommandOptions& defaults) {
  LineInput input("(core) ", candidates);
  const bool is_typed = standard_input_is_terminal();
  std::optional<Error> first;
  while (const auto text = input.read()) {
    const auto line = parse_line(*text, defaults);
    if (line && line->words.empty()) continue;
    if (line && (line->words[0] == "quit" || line->words[0] == "exit" || line->words[0] == "q")) break;
    const Result<void> done = line ? run_line(session, *line) : std::unexpected(line.error());
    if (done) continue;
    note("nodescope: {}\n", printable(done.error().message));
    if (!first) first = done.error();
  }
  if (first && !is_typed) return std::unexpected(*first);
  return {};
}

}  // namespace nodescope
