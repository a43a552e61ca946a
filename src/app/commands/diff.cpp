#include "analysis/diff.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <iterator>
#include <memory>

#include "analysis/function_table.h"
#include "app/commands/command.h"
#include "app/flame_options.h"
#include "app/function_report.h"
#include "app/input.h"
#include "app/output.h"
#include "app/selection_options.h"
#include "base/text.h"
#include "render/flame_svg.h"

namespace nodescope {

namespace {

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
  FlameFlags flame;
  SelectionOptions selection;
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

Result<std::string> output_format(const Options& options) {
  if (options.json) return "json";
  const std::string& path = options.output;
  std::string format = options.to;
  if (format.empty())
    format = path.ends_with(".svg") ? "svg" : path.ends_with(".folded") ? "folded" : "table";
  if (format == "svg" || format == "folded" || format == "table") return format;
  return fail(ErrorCode::kUsage, fmt::format("--format {}: not one of table, svg, folded", format));
}

std::string signed_count(std::int64_t change, Unit unit) {
  const auto size = static_cast<std::uint64_t>(change < 0 ? -change : change);
  return (change < 0 ? "-" : change > 0 ? "+" : "") + human_count(size, unit);
}

std::string one_sided_text(const OneSided& stacks, Unit unit, const char* what) {
  if (stacks.stacks == 0) return "";
  return fmt::format("{} {} stacks, {}\n", what, with_thousands(stacks.stacks),
                     human_count(stacks.weight, unit));
}

std::string table_text(const Diff& diff, const Options& options) {
  const Unit unit = diff.unit();
  std::string text =
      fmt::format("before {}, after {}{}\n", human_count(diff.before_unscaled(), unit),
                  human_count(diff.after_total(), unit), options.normalise ? " (scaled to after)" : "");
  text += one_sided_text(diff.vanished(), unit, "only before:");
  text += one_sided_text(diff.appeared(), unit, "only after: ");
  text += one_sided_text(diff.left_out(), unit, "left out:   ");
  text += fmt::format("\n{:>11} {:>11} {:>11} {:>11}  {}\n", "self change", "before", "after", "total chg.",
                      "function");
  std::size_t shown = 0;
  std::size_t changed = 0;
  for (const DiffFunction& function : diff.derive_functions()) {
    if (function.self_change() == 0 && function.total_change() == 0) continue;
    ++changed;
    if (options.top != 0 && shown == options.top) continue;
    ++shown;
    fmt::format_to(std::back_inserter(text), "{:>11} {:>11} {:>11} {:>11}  {}\n",
                   signed_count(function.self_change(), unit), human_count(function.before_self, unit),
                   human_count(function.after_self, unit), signed_count(function.total_change(), unit),
                   printable(function.name));
  }
  if (changed > shown) text += fmt::format("({} more; --top 0 shows all)\n", with_thousands(changed - shown));
  return text;
}

void write_one_sided(json::Writer& json, const char* key, const OneSided& stacks) {
  json.key(key).begin_object();
  json.key("stacks").count(stacks.stacks);
  json.key("weight").count(stacks.weight);
  json.end_object();
}

Result<void> write_json(const Diff& diff, ByteSink& sink) {
  json::Writer json(sink);
  json.begin_object();
  json.key("unit").string(to_string(diff.unit()));
  json.key("before").count(diff.before_unscaled());
  json.key("before_scaled").count(diff.before_total());
  json.key("after").count(diff.after_total());
  write_one_sided(json, "only_before", diff.vanished());
  write_one_sided(json, "only_after", diff.appeared());
  write_one_sided(json, "left_out", diff.left_out());
  json.key("functions").begin_array();
  for (const DiffFunction& function : diff.derive_functions()) {
    json.line().begin_object();
    json.key("name").string(function.name);
    json.key("kind").string(to_string(function.kind));
    json.key("before_self").count(function.before_self);
    json.key("after_self").count(function.after_self);
    json.key("before_total").count(function.before_total);
    json.key("after_total").count(function.after_total);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.finish();
}

Result<void> write_svg(const Diff& diff, DiffTreeOptions tree, const FlameOptions& options, ByteSink& sink) {
  tree.min_total = min_total(options, diff.width_total(tree.width));
  const auto report = write_flame_svg(diff.derive_tree(tree), options, sink);
  if (!report) return std::unexpected(report.error());
  return {};
}

Result<Selected> read_side(const std::string& path, const SelectionOptions& selection) {
  auto profile = read_input(path);
  if (!profile) return std::unexpected(profile.error());
  return select(std::move(*profile), selection, joined_names({path}));
}

Result<void> diff(const Options& options) {
  const auto format = output_format(options);
  if (!format) return std::unexpected(format.error());
  const auto tree = tree_options(options);
  if (!tree) return std::unexpected(tree.error());
  const auto flame = parse_flame_flags(options.flame);
  if (!flame) return std::unexpected(flame.error());
  const auto before = read_side(options.before, options.selection);
  if (!before) return std::unexpected(before.error());
  const auto after = read_side(options.after, options.selection);
  if (!after) return std::unexpected(after.error());
  const Diff result = derive_diff(before->profile, after->profile, diff_options(options));
  print_diagnostics(result.diagnostics(), options.after);
  const std::string path = *format == "svg" ? binary_output_path(options.output, "diff.svg") : options.output;
  return write_output(path, [&](ByteSink& sink) -> Result<void> {
    if (*format == "json") return write_json(result, sink);
    if (*format == "svg") return write_svg(result, *tree, *flame, sink);
    if (*format == "folded") return result.write_folded(sink);
    return sink.write(table_text(result, options));
  });
}

}  // namespace

void add_diff_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("diff",
                                         "Compare two profiles: a table, or a flame graph in which red grew "
                                         "and blue shrank. Takes difffolded.pl's options.");
  command->group("Look");
  command->add_option("BEFORE", options->before, "The first profile, of any format")->required();
  command->add_option("AFTER", options->after, "The second")->required();
  command
      ->add_option("-o,--output", options->output,
                   "diff.svg, diff.folded, or a table; standard output if not given")
      ->type_name("FILE");
  command
      ->add_option("--format", options->to, "table, svg or folded; if not given, by the output's extension")
      ->type_name("FORMAT");
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
  command->footer(
      "Examples\n"
      "  nodescope diff monday.nscope today.nscope\n"
      "  nodescope diff -n before.folded after.folded -o diff.svg");
  command->callback([options, &run] { run = [options] { return diff(*options); }; });
}

}  // namespace nodescope
