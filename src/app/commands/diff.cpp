#include "analysis/diff.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>

#include "analysis/function_table.h"
#include "app/commands/command.h"
#include "app/diff_gate.h"
#include "app/diff_report.h"
#include "app/flame_options.h"
#include "app/input.h"
#include "app/note.h"
#include "app/output.h"
#include "app/selection_options.h"
#include "base/path.h"
#include "base/text.h"
#include "os/terminal.h"
#include "render/flame_svg.h"

namespace nodescope {

namespace {

constexpr int kGateFailed = 3;

struct Options {
  std::string before;
  std::string after;
  std::string output = "-";
  std::string to;
  std::size_t top = 30;
  bool json = false;
  bool normalise = false;
  bool strip_hex = false;
  bool only_common = false;
  bool reverse = false;
  std::string width_of = "after";
  std::vector<std::string> fail_if;
  FlameFlags flame;
  SelectionOptions selection;
  SourceMapOptions maps;
};

DiffOptions diff_options(const Options& options) {
  DiffOptions diff;
  diff.count = options.selection.count_by();
  diff.labels.strip_hex = options.strip_hex;
  diff.root = RootBy::kThreadName;
  diff.normalise = options.normalise;
  diff.only_common = options.only_common;
  return diff;
}

Result<DiffTreeOptions> tree_options(const Options& options) {
  DiffTreeOptions tree;
  tree.reversed = options.reverse;
  if (options.width_of == "before") {
    tree.width = DiffWidth::kBefore;
  } else if (options.width_of == "both") {
    tree.width = DiffWidth::kBoth;
  } else if (options.width_of != "after") {
    return fail(ErrorCode::kUsage,
                fmt::format("--width-of {}: not one of after, before, both", options.width_of));
  }
  return tree;
}

// By what the options say, or by the name of the file; nothing for a name that says nothing.
std::string asked_format(const Options& options) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kEndings = {{{".svg", "svg"},
                                                                                      {".folded", "folded"},
                                                                                      {".json", "json"},
                                                                                      {".md", "markdown"},
                                                                                      {".txt", "table"},
                                                                                      {".log", "table"}}};
  if (options.json) return "json";
  if (!options.to.empty()) return options.to;
  for (const auto& [ending, format] : kEndings) {
    if (options.output.ends_with(ending)) return std::string(format);
  }
  return file_name_of(options.output).contains('.') ? std::string() : "table";
}

Result<std::string> output_format(const Options& options) {
  constexpr std::array<std::string_view, 5> kFormats = {"table", "markdown", "json", "svg", "folded"};
  const std::string format = asked_format(options);
  if (std::ranges::find(kFormats, format) != kFormats.end()) return format;
  if (format.empty()) {
    return fail(ErrorCode::kUsage,
                fmt::format("{}: the name must end with .svg, .folded, .json, .md or .txt, or --to must say "
                            "what to write",
                            options.output));
  }
  return fail(ErrorCode::kUsage,
              fmt::format("--to {}: not one of table, markdown, json, svg, folded", format));
}

Result<std::vector<GateRule>> gate_rules(const Options& options) {
  std::vector<GateRule> rules;
  for (const std::string& text : options.fail_if) {
    auto rule = parse_gate_rule(text);
    if (!rule) return std::unexpected(rule.error());
    rules.push_back(std::move(*rule));
  }
  return rules;
}

Result<void> write_svg(const Diff& diff, DiffTreeOptions tree, const FlameOptions& options, ByteSink& sink) {
  tree.min_total = min_total(options, diff.width_total(tree.width));
  const auto report = write_flame_svg(diff.derive_tree(tree), options, sink);
  if (!report) return std::unexpected(report.error());
  return {};
}

Result<Selected> read_side(const std::string& path, const SelectionOptions& selection,
                           const SourceMapOptions& maps) {
  auto profile = read_input(path, maps);
  if (!profile) return std::unexpected(profile.error());
  return select(std::move(*profile), selection, joined_names({path}));
}

Result<std::vector<GateResult>> judge_profiles(const std::vector<GateRule>& rules, const Diff& diff,
                                               const Selected& before, const Selected& after, CountBy count) {
  if (rules.empty()) return std::vector<GateResult>();
  FunctionTableOptions packages;
  packages.group = GroupBy::kPackage;
  packages.count = count;
  const FunctionTable old_packages = derive_function_table(before.profile, packages);
  const FunctionTable new_packages = derive_function_table(after.profile, packages);
  return judge(rules, {diff, old_packages, new_packages});
}

Result<void> write_result(const DiffReport& report, const std::string& format, const DiffTreeOptions& tree,
                          const FlameOptions& flame, const std::string& output) {
  const std::string path = format == "svg" ? binary_output_path(output, "diff.svg") : output;
  return write_output(path, [&](ByteSink& sink) -> Result<void> {
    if (format == "json") return write_diff_json(report, sink);
    if (format == "svg") return write_svg(report.diff, tree, flame, sink);
    if (format == "folded") return report.diff.write_folded(sink);
    return sink.write(format == "markdown" ? diff_markdown(report) : diff_text(report));
  });
}

Result<void> diff(const Options& options, int& exit_code) {
  const auto format = output_format(options);
  if (!format) return std::unexpected(format.error());
  const auto tree = tree_options(options);
  if (!tree) return std::unexpected(tree.error());
  const auto flame = parse_flame_flags(options.flame);
  if (!flame) return std::unexpected(flame.error());
  const auto rules = gate_rules(options);
  if (!rules) return std::unexpected(rules.error());
  const auto before = read_side(options.before, options.selection, options.maps);
  if (!before) return std::unexpected(before.error());
  const auto after = read_side(options.after, options.selection, options.maps);
  if (!after) return std::unexpected(after.error());
  const Diff result = derive_diff(before->profile, after->profile, diff_options(options));
  print_diagnostics(result.diagnostics(), options.after);
  const auto gate = judge_profiles(*rules, result, *before, *after, options.selection.count_by());
  if (!gate) return std::unexpected(gate.error());
  DiffReport report{result, *gate, options.normalise, options.top, 0};
  if (options.output == "-" && standard_output_is_terminal()) report.max_columns = terminal_columns();
  if (auto written = write_result(report, *format, *tree, *flame, options.output); !written) return written;
  for (const GateResult& failed : *gate) {
    if (!failed.failed) continue;
    note("nodescope: {}: {} {}\n", printable(failed.rule), printable(failed.what),
         growth_text(failed, result.unit()));
    exit_code = kGateFailed;
  }
  return {};
}

}  // namespace

void add_diff_command(CLI::App& app, Run& run, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("diff",
                                         "Compare two profiles: a table, or a flame graph in which red grew "
                                         "and blue shrank. Takes difffolded.pl's options.");
  command->group("Look");
  command->add_option("BEFORE", options->before, "The first profile, of any format")->required();
  command->add_option("AFTER", options->after, "The second")->required();
  command
      ->add_option("-o,--output", options->output,
                   "diff.svg, diff.folded, diff.json, diff.md, or a table; standard output if not given")
      ->type_name("FILE");
  command
      ->add_option("--to,--format", options->to,
                   "table, markdown, json, svg or folded; if not given, by the output's extension")
      ->type_name("FORMAT");
  command
      ->add_option(
          "--fail-if", options->fail_if,
          "End with exit code 3 if something grew by more than this: total>10%, own:total>5%, "
          "package:express:total>200ms, parseRows:self>3pt (points of the whole); may be given several times")
      ->allow_extra_args(false)
      ->type_name("RULE");
  command->add_flag("-n,--normalise,--normalize", options->normalise,
                    "Scale the first profile to the sum of the second");
  // difffolded.pl takes -s; what its author wrote about it calls the same -x.
  command->add_flag("-s,-x,--strip-hex", options->strip_hex,
                    "Addresses in names (0x45ef2173) are all the same");
  command->add_flag("--only-common", options->only_common, "Leave out stacks that only one profile has");
  command->add_option("--width-of", options->width_of, "What the width of a box shows: after, before or both")
      ->type_name("SIDE");
  command->add_flag("--reverse", options->reverse, "Merge from the innermost function");
  command->add_option("--top", options->top, "How many rows of the table (30); 0 for all")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  command->add_flag("--json", options->json, "For programs");
  add_flame_flags(*command, options->flame);
  add_selection_options(*command, options->selection);
  add_source_map_options(*command, options->maps);
  command->footer(
      "Examples\n"
      "  nodescope diff monday.nscope today.nscope\n"
      "  nodescope diff -n before.folded after.folded -o diff.svg\n"
      "  nodescope diff main.nscope branch.nscope --fail-if 'own:total>10%' -o diff.md");
  command->callback(
      [options, &run, &exit_code] { run = [options, &exit_code] { return diff(*options, exit_code); }; });
}

}  // namespace nodescope
