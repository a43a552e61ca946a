#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <memory>

#include "analysis/diff.h"
#include "app/commands/command.h"
#include "app/flame_options.h"
#include "app/input.h"
#include "app/output.h"
#include "app/selection_options.h"
#include "formats/folded/folded.h"
#include "os/file.h"
#include "render/flame_svg.h"

namespace nodescope {

namespace {

struct Options {
  std::vector<std::string> inputs;
  std::string output = "-";
  FlameFlags flame;
  SelectionOptions selection;
  bool reverse = false;
  bool flame_chart = false;
  bool by_thread = false;
  bool collapse_recursion = false;
  bool split_tiers = false;
};

CallTreeOptions tree_options(const Options& options) {
  CallTreeOptions tree;
  tree.count = options.selection.count_by();
  tree.labels.merge_tiers = !options.split_tiers;
  tree.root = options.by_thread ? RootBy::kThread : RootBy::kThreadName;
  tree.reversed = options.reverse;
  tree.collapse_recursion = options.collapse_recursion;
  tree.time_order = options.flame_chart;
  return tree;
}

// Two counts a line, as difffolded.pl writes them, are a comparison.
bool is_comparison(const Profile& profile, const Options& options) {
  return has_two_counts(profile) && options.selection.event.empty() && !options.flame_chart;
}

Result<FlameReport> draw_comparison(const Profile& profile, const Options& options, const FlameOptions& flame,
                                    ByteSink& sink) {
  DiffOptions diff_options;
  diff_options.before_event = EventId{0};
  diff_options.after_event = EventId{1};
  diff_options.count = options.selection.count_by();
  diff_options.labels.merge_tiers = !options.split_tiers;
  diff_options.root = tree_options(options).root;
  diff_options.collapse_recursion = options.collapse_recursion;
  const Diff diff = derive_diff(profile, profile, diff_options);
  DiffTreeOptions tree;
  tree.reversed = options.reverse;
  tree.min_total = min_total(flame, diff.width_total(tree.width));
  return write_flame_svg(diff.derive_tree(tree), flame, sink);
}

Result<void> flame(const Options& options) {
  auto flame_options = parse_flame_flags(options.flame);
  if (!flame_options) return std::unexpected(flame_options.error());
  auto profile = read_inputs(options.inputs);
  if (!profile) return std::unexpected(profile.error());
  auto selected = select(std::move(*profile), options.selection, joined_names(options.inputs));
  if (!selected) return std::unexpected(selected.error());
  const std::string path = binary_output_path(options.output, "flame.svg");
  FlameReport report;
  auto written = write_output(path, [&](ByteSink& sink) -> Result<void> {
    auto drawn = is_comparison(selected->profile, options)
                     ? draw_comparison(selected->profile, options, *flame_options, sink)
                     : write_flame_svg(selected->profile, tree_options(options), *flame_options, sink);
    if (!drawn) return std::unexpected(drawn.error());
    report = std::move(*drawn);
    return {};
  });
  if (!written) return written;
  print_diagnostics(report.diagnostics, joined_names(options.inputs));
  return save_palette(options.flame, report.palette);
}

}  // namespace

void add_flame_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "flame", "Draw an interactive flame graph (SVG) of any profile. Takes flamegraph.pl's options.");
  command->group("Look");
  command->add_option("FILE", options->inputs, "Profiles of any format; - or nothing for standard input");
  command->add_option("-o,--output", options->output, "Where to write; standard output if not given")
      ->type_name("FILE");
  command->add_flag("--reverse", options->reverse, "Merge from the innermost function: who calls it?");
  command->add_flag("--flamechart", options->flame_chart,
                    "Left to right is time; nothing is merged across time");
  command->add_flag("--by-thread", options->by_thread, "One tower per thread instead of per process name");
  command->add_flag("--collapse-recursion", options->collapse_recursion, "f;f;f is one box");
  command->add_flag("--split-tiers", options->split_tiers, "A function in several tiers is several boxes");
  add_flame_flags(*command, options->flame);
  add_selection_options(*command, options->selection);
  command->footer(
      "Examples\n"
      "  nodescope flame perf.data -o flame.svg\n"
      "  perf script | nodescope flame --color=js --hash > flame.svg\n"
      "  difffolded.pl before.folded after.folded | nodescope flame > diff.svg\n"
      "  nodescope flame app.cpuprofile --my-code --from 4.2s --to 5.8s -o stall.svg");
  command->callback([options, &run] { run = [options] { return flame(*options); }; });
}

}  // namespace nodescope
