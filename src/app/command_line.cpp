#include "app/command_line.h"

#include "app/help.h"
#include "app/version.h"

namespace nodescope {

CommandLine::CommandLine(const std::vector<std::string>& program)
    : app_("Shows what any Node.js process is doing, from outside.", "nodescope") {
  app_.require_subcommand(1);
  app_.set_version_flag("--version", std::string("nodescope ") + kVersion);
  app_.set_help_flag("-h,--help", "Print this help");
  use_readable_help(app_);
  add_record_command(app_, run_, program);
  add_top_command(app_, run_);
  add_ps_command(app_, run_);
  add_dump_command(app_, run_);
  add_doctor_command(app_, run_);
  add_view_command(app_, run_);
  add_flame_command(app_, run_);
  add_report_command(app_, run_);
  add_diff_command(app_, run_);
  add_info_command(app_, run_);
  add_convert_command(app_, run_);
  add_collapse_command(app_, run_);
  add_demo_command(app_, run_);
  add_completion_command(app_, run_);
  add_man_command(app_, run_);
}

}  // namespace nodescope
