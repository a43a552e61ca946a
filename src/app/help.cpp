#include "app/help.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "os/terminal.h"

namespace nodescope {

namespace {

constexpr std::size_t kNamesColumn = 30;
constexpr std::size_t kMaxColumns = 100;

std::optional<double> parse_decimal(const std::string& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(number)) return std::nullopt;
  return number;
}

// Breaks `text` at spaces so that no line is longer than the terminal; the first starts at `column`.
std::string wrapped(const std::string& text, std::size_t column) {
  const std::size_t width = std::min(terminal_columns(), kMaxColumns);
  const std::string indent = "\n" + std::string(column, ' ');
  std::string lines;
  std::size_t used = column;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::size_t length = end - begin;
    if (used > column && used + 1 + length > width) {
      lines += indent;
      used = column;
    } else if (used > column) {
      lines += ' ';
      ++used;
    }
    lines.append(text, begin, length);
    used += length;
    begin = end + 1;
  }
  return lines;
}

std::string row(const std::string& names, const std::string& description) {
  if (names.size() + 4 <= kNamesColumn) {
    return fmt::format("  {:<{}}{}\n", names, kNamesColumn - 2, wrapped(description, kNamesColumn));
  }
  return fmt::format("  {}\n{:{}}{}\n", names, "", kNamesColumn, wrapped(description, kNamesColumn));
}

std::string positional_usage(const CLI::Option& option) {
  std::string name = option.get_name(true);
  if (option.get_expected_max() > 1) name += "...";
  return option.get_required() ? name : "[" + name + "]";
}

class ReadableHelp final : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const override {
    return usage(*app) + "\n" + wrapped(app->get_description(), 0) + "\n" + commands(*app) + options(*app) +
           footer(*app);
  }

 private:
  static std::string full_name(const CLI::App& app) {
    const CLI::App* parent = app.get_parent();
    return parent == nullptr ? app.get_name() : full_name(*parent) + " " + app.get_name();
  }

  static std::string usage(const CLI::App& app) {
    std::string line = "Usage: " + full_name(app);
    const bool has_commands = !app.get_subcommands([](const CLI::App*) { return true; }).empty();
    line += has_commands ? " COMMAND [OPTIONS]" : " [OPTIONS]";
    for (const CLI::Option* option :
         app.get_options([](const CLI::Option* o) { return o->get_positional(); })) {
      line += " " + positional_usage(*option);
    }
    return line + "\n";
  }

  static std::string first_sentence(const std::string& text) {
    const std::string sentence = text.substr(0, text.find(". "));
    return sentence.ends_with('.') ? sentence.substr(0, sentence.size() - 1) : sentence;
  }

  static std::string commands(const CLI::App& app) {
    std::string text;
    std::string group;
    for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
      if (command->get_group().empty()) continue;
      if (command->get_group() != group) {
        group = command->get_group();
        text += "\n" + group + "\n";
      }
      text += row(command->get_name(), first_sentence(command->get_description()));
    }
    return text;
  }

  static std::string options(const CLI::App& app) {
    std::string text;
    for (const std::string& group : app.get_groups()) {
      if (group.empty()) continue;
      std::string rows;
      for (const CLI::Option* option : app.get_options()) {
        if (option->get_group() != group || (option->get_positional() && option->get_description().empty()))
          continue;
        rows += row(option->get_positional() ? option->get_name(true) : option_names(*option),
                    option->get_description());
      }
      if (!rows.empty()) text += "\n" + group + "\n" + rows;
    }
    return text;
  }

  static std::string footer(const CLI::App& app) {
    std::string text;
    std::istringstream lines(app.get_footer());
    for (std::string line; std::getline(lines, line);) {
      const bool is_example = line.starts_with(' ');
      text += (is_example ? line : wrapped(line, 0)) + "\n";
    }
    return text.empty() ? text : "\n" + text;
  }
};

}  // namespace

std::string option_names(const CLI::Option& option) {
  std::string names;
  for (const std::string& name : option.get_snames()) names += (names.empty() ? "-" : ", -") + name;
  for (const std::string& name : option.get_lnames()) names += (names.empty() ? "--" : ", --") + name;
  if (option.get_expected_max() > 0 && option.get_type_size_max() > 0) names += " " + option.get_type_name();
  return names;
}

void use_readable_help(CLI::App& app) {
  app.formatter(std::make_shared<ReadableHelp>());
}

void limit(CLI::Option& option, double least, double most) {
  option.check(CLI::Validator(
      [least, most](const std::string& text) {
        const auto number = parse_decimal(text);
        if (!number) return fmt::format("{} is not a number", text);
        if (*number < least || *number > most)
          return fmt::format("{} is not between {} and {}", text, least, most);
        return std::string();
      },
      ""));
}

}  // namespace nodescope
