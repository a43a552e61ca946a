#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "app/command_line.h"
#include "app/commands/command.h"
#include "app/output.h"

namespace nodescope {

namespace {

struct Options {
  std::string shell;
};

// Every option of `command` as the user may type it, separated by spaces.
std::string option_words(const CLI::App& command) {
  std::string words;
  for (const CLI::Option* option :
       command.get_options([](const CLI::Option* o) { return o->nonpositional(); })) {
    for (const std::string& name : option->get_snames()) words += "-" + name + " ";
    for (const std::string& name : option->get_lnames()) words += "--" + name + " ";
  }
  if (!words.empty()) words.pop_back();
  return words;
}

std::vector<const CLI::App*> visible_commands(const CLI::App& app) {
  std::vector<const CLI::App*> visible;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) visible.push_back(command);
  }
  return visible;
}

std::string command_names(const CLI::App& app) {
  std::string names;
  for (const CLI::App* command : visible_commands(app))
    names += (names.empty() ? "" : " ") + command->get_name();
  return names;
}

std::string bash_script(const CLI::App& app) {
  std::string names;
  std::string cases;
  for (const CLI::App* command : visible_commands(app)) {
    names += command->get_name() + " ";
    const std::string parts = command_names(*command);
    for (const CLI::App* part : visible_commands(*command)) {
      cases += fmt::format("    '{} {}') words='{}' ;;\n", command->get_name(), part->get_name(),
                           option_words(*part));
    }
    cases += parts.empty()
                 ? fmt::format("    '{} '*) words='{}' ;;\n", command->get_name(), option_words(*command))
                 : fmt::format("    '{} '*) words='{} {}' first=2 ;;\n", command->get_name(), parts,
                               option_words(*command));
  }
  return fmt::format(R"(# bash completion for nodescope
_nodescope() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} words= first=1
  case "${{COMP_WORDS[1]}} ${{COMP_WORDS[2]}}" in
{}    *) words='{}{}' ;;
  esac
  if [ "$COMP_CWORD" -gt "$first" ] && [[ $current != -* ]]; then
    COMPREPLY=($(compgen -f -- "$current"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  fi
}}
complete -o filenames -F _nodescope nodescope
)",
                     cases, names, option_words(app));
}

// zsh runs the bash script through its own emulation.
std::string zsh_script(const CLI::App& app) {
  return "#compdef nodescope\nautoload -U +X bashcompinit && bashcompinit\n" + bash_script(app);
}

std::string fish_script(const CLI::App& app) {
  std::string script = "# fish completion for nodescope\n";
  for (const CLI::App* command : visible_commands(app)) {
    const std::string name = command->get_name();
    script += fmt::format("complete -c nodescope -n __fish_use_subcommand -a {}\n", name);
    for (const CLI::Option* option :
         command->get_options([](const CLI::Option* o) { return o->nonpositional(); })) {
      for (const std::string& word : option->get_lnames()) {
        script +=
            fmt::format("complete -c nodescope -n '__fish_seen_subcommand_from {}' -l {}\n", name, word);
      }
    }
    const std::string parts = command_names(*command);
    if (!parts.empty()) {
      script +=
          fmt::format("complete -c nodescope -n '__fish_seen_subcommand_from {}' -a '{}'\n", name, parts);
    }
  }
  return script;
}

Result<void> completion(const Options& options) {
  CommandLine command_line;
  const CLI::App& app = command_line.app();
  const std::string script = options.shell == "bash"  ? bash_script(app)
                             : options.shell == "zsh" ? zsh_script(app)
                                                      : fish_script(app);
  return write_output("-", [&](ByteSink& sink) { return sink.write(script); });
}

}  // namespace

void add_completion_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("completion", "Print a completion script for bash, zsh or fish.");
  command->group("Set up");
  command->add_option("SHELL", options->shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer("Example\n  source <(nodescope completion bash)");
  command->callback([options, &run] { run = [options] { return completion(*options); }; });
}

}  // namespace nodescope
