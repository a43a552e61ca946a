#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "analysis/function_table.h"
#include "analysis/summed_selection.h"
#include "app/commands/command.h"
#include "app/function_report.h"
#include "app/headline.h"
#include "app/input.h"
#include "app/node_report_text.h"
#include "app/note.h"
#include "app/output.h"
#include "app/selection_options.h"
#include "app/stall_report.h"
#include "base/text.h"
#include "os/terminal.h"

namespace nodescope {

namespace {

struct Options {
  std::vector<std::string> inputs;
  std::string output = "-";
  std::string by = "function";
  std::string sort = "self";
  std::size_t top = 30;
  bool json = false;
  bool stalls = false;
  std::string at_least = "50ms";
  SelectionOptions selection;
};

Result<FunctionTableOptions> table_options(const Options& options) {
  FunctionTableOptions table;
  const auto group = group_by_of(options.by);
  if (!group) {
    return fail(ErrorCode::kUsage,
                fmt::format("--by {}: not one of function, file, package, module, kind, process, thread",
                            options.by));
  }
  table.group = *group;
  table.count = options.selection.count_by();
  if (options.sort == "total") {
    table.sort = SortBy::kTotal;
  } else if (options.sort == "name") {
    table.sort = SortBy::kName;
  } else if (options.sort != "self") {
    return fail(ErrorCode::kUsage, fmt::format("--sort {}: not one of self, total, name", options.sort));
  }
  return table;
}

// What the user wrote comes first, in ten rows, where nothing else was asked for.
std::string own_text(const FunctionTable& table, const Options& options, TableTextOptions text) {
  constexpr std::size_t kOwnRows = 10;
  if (table.group != GroupBy::kFunction || options.sort != "self") return {};
  const FunctionTable own = own_functions(table);
  if (own.rows.empty()) return {};
  text.top = options.top == 0 ? kOwnRows : std::min(kOwnRows, options.top);
  text.heading = "your functions, with what they call";
  text.says_more = false;
  return function_table_text(own, text) + "\n";
}

std::string report_text(const Selected& selected, const CauseTotals& causes, const FunctionTable& table,
                        const Options& options, const std::string& verdict) {
  TableTextOptions text;
  text.top = options.top;
  text.heading = options.by;
  if (options.output == "-" && standard_output_is_terminal()) text.max_columns = terminal_columns();
  return fmt::format("{}{}\n{}\n{}{}", verdict.empty() ? "" : verdict + "\n",
                     accounting_text(selected.profile, selected.accounting), causes_text(causes),
                     own_text(table, options, text), function_table_text(table, text));
}

void write_row(json::Writer& json, const FunctionRow& row, GroupBy group) {
  json.line().begin_object();
  json.key("name").string(row.name);
  if (group == GroupBy::kFunction) {
    json.key("function").string(row.parts.name);
    if (!row.source.file.empty()) {
      json.key("file").string(row.source.file);
      json.key("line").count(row.source.line);
      json.key("column").count(row.source.column);
    }
  }
  if (has_kinds(group)) json.key("kind").string(to_string(row.kind));
  json.key("self").count(row.self);
  json.key("total").count(row.total);
  json.key("samples").count(row.samples);
  json.end_object();
}

Result<void> write_json(const Selected& selected, const CauseTotals& causes, const FunctionTable& table,
                        const Options& options, const std::string& verdict, ByteSink& sink) {
  constexpr int kVersion = 1;
  json::Writer json(sink);
  const Profile& profile = selected.profile;
  json.begin_object();
  json.key("version").integer(kVersion);
  if (!verdict.empty()) json.key("verdict").string(verdict);
  json.key("samples").begin_object();
  write_accounting(json, selected.accounting);
  json.end_object();
  json.key("event").string(profile.events().empty() ? "" : profile.text(profile.events().front().name));
  json.key("unit").string(to_string(table.unit));
  json.key("total").count(table.total);
  json.key("causes").begin_object();
  for (std::size_t i = 0; i < kCauseCount; ++i)
    json.key(to_string(static_cast<Cause>(i))).count(causes.by[i]);
  json.end_object();
  json.key("by").string(options.by);
  json.key("rows").begin_array();
  const std::size_t count = options.top == 0 ? table.rows.size() : std::min(options.top, table.rows.size());
  for (const FunctionRow& row : std::span(table.rows).first(count)) write_row(json, row, table.group);
  json.end_array();
  json.line().key("diagnostics");
  write_diagnostics(json, profile.diagnostics);
  json.end_object();
  return json.finish();
}

std::string untimed_stalls_text(const Options& options) {
  return fmt::format("No stall can be told: the samples of {} have no times.\n",
                     printable(joined_names(options.inputs)));
}

Result<void> report_stalls(const Options& options) {
  const auto at_least = parse_duration_ns(options.at_least);
  if (!at_least) {
    return fail(ErrorCode::kUsage,
                fmt::format("--at-least {}: not a time; write 50ms or 0.2s", options.at_least));
  }
  auto profile = read_inputs(options.inputs);
  if (!profile) return std::unexpected(profile.error());
  profile->samples.sort_by_time();
  const auto selection = selection_of(*profile, options.selection, joined_names(options.inputs));
  if (!selection) return std::unexpected(selection.error());
  const auto stalls =
      derive_stalls(*profile, derive_overview(*profile), derive_causes(*profile), *selection, {*at_least});
  if (!stalls) return std::unexpected(stalls.error());
  const bool can_tell = has_times(*profile) || !stalls->stalls.empty();
  if (!can_tell && options.json) note("nodescope: {}", untimed_stalls_text(options));
  return write_output(options.output, [&](ByteSink& sink) {
    if (!can_tell && !options.json) return sink.write(untimed_stalls_text(options));
    return options.json ? write_stalls_json(*profile, *stalls, options.top, sink)
                        : sink.write(stalls_text(*profile, *stalls, *at_least, options.top));
  });
}

// Nothing where the input is no diagnostic report of Node.js.  A pipe can be opened only once, so it is none.
std::optional<Result<void>> report_node_report(const Options& options) {
  std::error_code unknown;
  if (options.inputs.size() != 1 || !std::filesystem::is_regular_file(options.inputs.front(), unknown))
    return std::nullopt;
  auto source = open_content_of(options.inputs.front());
  if (!source || !is_node_report((*source)->head())) return std::nullopt;
  return show_node_report(**source, options.output, options.json);
}

Result<void> report(const Options& options) {
  if (auto shown = report_node_report(options)) return std::move(*shown);
  if (options.stalls) return report_stalls(options);
  const auto table = table_options(options);
  if (!table) return std::unexpected(table.error());
  auto profile = read_inputs(options.inputs);
  if (!profile) return std::unexpected(profile.error());
  const std::string name = joined_names(options.inputs);
  const auto selection = selection_of(*profile, options.selection, name);
  if (!selection) return std::unexpected(selection.error());
  Selection whole;
  whole.only_my_code = selection->only_my_code;
  const std::string verdict = *selection == whole ? headline(*profile) : std::string();
  const auto causes = derive_cause_totals(*profile, *selection, options.selection.count_by());
  if (!causes) return std::unexpected(causes.error());
  auto selected = select(std::move(*profile), options.selection, name);
  if (!selected) return std::unexpected(selected.error());
  const FunctionTable functions = derive_function_table(selected->profile, *table);
  if (functions.clipped) {
    Diagnostics clipped;
    clipped.warn(
        "counts that add up to more than 2^62 were clipped: what comes behind counts less, or nothing");
    print_diagnostics(clipped, name);
    selected->profile.diagnostics.merge(clipped);
  }
  return write_output(options.output, [&](ByteSink& sink) {
    return options.json ? write_json(*selected, *causes, functions, options, verdict, sink)
                        : sink.write(report_text(*selected, *causes, functions, options, verdict));
  });
}

}  // namespace

void add_report_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("report", "List the functions that use the CPU, with self and total.");
  command->group("Look");
  command->add_option("FILE", options->inputs, "Profiles of any format; - or nothing for standard input");
  command->add_option("-o,--output", options->output, "Where to write; standard output if not given")
      ->type_name("FILE");
  command->add_option("--by", options->by, "function, file, package, module, kind, process or thread")
      ->type_name("WHAT");
  command->add_option("--sort", options->sort, "self, total or name")->type_name("COLUMN");
  command->add_option("--top", options->top, "How many rows (30); 0 for all")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  command->add_flag("--stalls", options->stalls,
                    "Instead of functions: how long threads ran without a return to their event loop, and in "
                    "which function");
  command->add_option("--at-least", options->at_least, "With --stalls: only those of this length (50ms)")
      ->type_name("TIME");
  command->add_flag("--json", options->json, "For programs");
  add_selection_options(*command, options->selection);
  command->footer(
      "Examples\n"
      "  nodescope report perf.data --by package\n"
      "  nodescope report app.cpuprofile --my-code --json\n"
      "  nodescope report app.nscope --stalls --at-least 100ms");
  command->callback([options, &run] { run = [options] { return report(*options); }; });
}

}  // namespace nodescope
