#include "app/command_line.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/commands/heap.h"
#include "app/help.h"
#include "app/nearest_word.h"
#include "app/version.h"

namespace nodescope {

CommandLine::CommandLine(std::vector<std::string> program)
    : app_("Shows what any Node.js process is doing, from outside.", "nodescope"),
      program_{std::move(program)} {
  app_.require_subcommand(1);
  app_.set_version_flag("--version", std::string("nodescope ") + kVersion);
  app_.set_help_flag("-h,--help", "Print this help");
  use_readable_help(app_);
  add_record_command(app_, run_, program_);
  add_top_command(app_, run_);
  add_loop_command(app_, run_, program_);
  add_ps_command(app_, run_);
  add_dump_command(app_, run_);
  add_core_command(app_, run_);
  add_awaits_command(app_, run_);
  add_doctor_command(app_, run_);
  add_heap_command(app_, run_);
  add_view_command(app_, run_);
  add_flame_command(app_, run_);
  add_report_command(app_, run_);
  add_diff_command(app_, run_, program_.exit_code);
  add_info_command(app_, run_);
  add_convert_command(app_, run_);
  add_collapse_command(app_, run_);
  add_demo_command(app_, run_);
  add_completion_command(app_, run_);
  add_man_command(app_, run_);
}

Result<void> CommandLine::check_command(std::string_view name) {
  std::vector<std::string> names;
  for (const CLI::App* command : app_.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  if (std::ranges::find(names, name) != names.end()) return {};
  const std::string nearest = nearest_word(name, names);
  return fail(ErrorCode::kUsage, fmt::format("there is no command \"{}\"; {}", name,
                                             nearest.empty() ? "'nodescope help' lists them"
                                                             : "did you mean '" + nearest + "'?"));
}

}  // namespace nodescope
