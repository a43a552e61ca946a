#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
}

namespace nodescope {

// What the command line asks for, set while it is parsed and run afterwards.
using Run = std::function<Result<void>()>;

// Each adds one subcommand with its options to `app`.
void add_awaits_command(CLI::App& app, Run& run);
void add_collapse_command(CLI::App& app, Run& run);
void add_core_command(CLI::App& app, Run& run);
void add_convert_command(CLI::App& app, Run& run);
// `exit_code` outlives `run`, which sets it where a limit of --fail-if is exceeded.
void add_diff_command(CLI::App& app, Run& run, int& exit_code);
void add_doctor_command(CLI::App& app, Run& run);
void add_dump_command(CLI::App& app, Run& run);
void add_flame_command(CLI::App& app, Run& run);
void add_info_command(CLI::App& app, Run& run);

// The command behind "--" to start and record.
struct RecordedCommand {
  std::vector<std::string> arguments;  // empty: none
  int exit_code = 0;  // how it ended, unless that was our doing: 128 + signal if one ended it
};
// `program` outlives `run`, which sets its exit code.
void add_record_command(CLI::App& app, Run& run, RecordedCommand& program);

// `program` outlives `run`, which sets its exit code: 3 if there was a stall.
void add_loop_command(CLI::App& app, Run& run, RecordedCommand& program);
void add_ps_command(CLI::App& app, Run& run);
void add_report_command(CLI::App& app, Run& run);
void add_top_command(CLI::App& app, Run& run);
void add_view_command(CLI::App& app, Run& run);
void add_completion_command(CLI::App& app, Run& run);
void add_demo_command(CLI::App& app, Run& run);
void add_man_command(CLI::App& app, Run& run);

}  // namespace nodescope
