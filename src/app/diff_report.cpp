#include "app/diff_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "analysis/function_table.h"
#include "app/function_report.h"
#include "base/text.h"
#include "json/writer.h"

namespace nodescope {

namespace {

constexpr int kVersion = 1;

std::string signed_count(std::int64_t change, Unit unit) {
  const auto size = static_cast<std::uint64_t>(change < 0 ? -change : change);
  return (change < 0 ? "-" : change > 0 ? "+" : "") + human_count(size, unit);
}

std::string one_sided_text(const OneSided& stacks, Unit unit, const char* what) {
  if (stacks.stacks == 0) return "";
  return fmt::format("{} {} stacks, {}\n", what, with_thousands(stacks.stacks),
                     human_count(stacks.weight, unit));
}

std::string whole_text(const DiffReport& report) {
  const Diff& diff = report.diff;
  std::string change;
  if (!report.is_scaled && diff.before_total() != 0) {
    const double ratio = static_cast<double>(diff.after_total()) / static_cast<double>(diff.before_total());
    change = fmt::format(" ({:+.1f} %)", 100 * (ratio - 1));
  }
  return fmt::format("before {}, after {}{}{}", human_count(diff.before_unscaled(), diff.unit()),
                     human_count(diff.after_total(), diff.unit()), change,
                     report.is_scaled ? " (scaled to after)" : "");
}

// What only passes on what others did says nothing: its own code did not change, and it has no self.
bool tells_something(const DiffFunction& function) {
  return function.self_change() != 0 || function.own_change() != 0;
}

struct Rows {
  std::vector<DiffFunction> shown;
  std::size_t left_out = 0;
};

Rows rows_of(const DiffReport& report) {
  Rows rows;
  for (DiffFunction& function : report.diff.derive_functions()) {
    const bool changed = function.self_change() != 0 || function.total_change() != 0;
    if (!changed || (report.top != 0 && !tells_something(function))) continue;
    if (report.top == 0 || rows.shown.size() < report.top) {
      rows.shown.push_back(std::move(function));
    } else {
      ++rows.left_out;
    }
  }
  return rows;
}

std::string cell(std::string_view text) {
  std::string escaped;
  for (const char c : printable(text)) {
    if (c == '|' || c == '`' || c == '\\' || c == '<' || c == '*' || c == '_' || c == '[' || c == '@')
      escaped += '\\';
    escaped += c;
  }
  return escaped;
}

void write_one_sided(json::Writer& json, const char* key, const OneSided& stacks) {
  json.key(key).begin_object();
  json.key("stacks").count(stacks.stacks);
  json.key("weight").count(stacks.weight);
  json.end_object();
}

void write_source(json::Writer& json, const char* key, const LabelSource& source) {
  if (source.file.empty()) return;
  json.key(key).begin_object();
  json.key("file").string(source.file);
  json.key("line").count(source.line);
  json.key("column").count(source.column);
  json.end_object();
}

void write_function(json::Writer& json, const DiffFunction& function) {
  json.line().begin_object();
  json.key("name").string(function.name);
  json.key("function").string(function.parts.name);
  write_source(json, "place", function.source);
  if (function.before_source != function.source) write_source(json, "place_before", function.before_source);
  json.key("kind").string(to_string(function.kind));
  json.key("origin").string(to_string(CodeOrigin{function.origin, {}}));
  json.key("before_self").count(function.before_self);
  json.key("after_self").count(function.after_self);
  json.key("before_total").count(function.before_total);
  json.key("after_total").count(function.after_total);
  json.key("before_own").count(function.before_own);
  json.key("after_own").count(function.after_own);
  json.end_object();
}

}  // namespace

std::string diff_text(const DiffReport& report) {
  const Diff& diff = report.diff;
  const Unit unit = diff.unit();
  std::string text = whole_text(report) + "\n";
  text += one_sided_text(diff.vanished(), unit, "only before:");
  text += one_sided_text(diff.appeared(), unit, "only after: ");
  text += one_sided_text(diff.left_out(), unit, "left out:   ");
  for (const GateResult& result : report.gate) {
    text += fmt::format("{} {}: {} {}\n", result.failed ? "FAIL" : "ok  ", printable(result.rule),
                        printable(result.what), growth_text(result, unit));
  }
  text += fmt::format("\n{:>12} {:>11} {:>11} {:>12}  {}\n", "total change", "before", "after", "self change",
                      "function");
  const Rows rows = rows_of(report);
  for (const DiffFunction& function : rows.shown) {
    std::string name = printable(function.name);
    constexpr std::size_t kFixedColumns = 51;
    if (report.max_columns > kFixedColumns)
      name = shortened(std::move(name), report.max_columns - kFixedColumns);
    fmt::format_to(std::back_inserter(text), "{:>12} {:>11} {:>11} {:>12}  {}\n",
                   signed_count(function.total_change(), unit), human_count(function.before_total, unit),
                   human_count(function.after_total, unit), signed_count(function.self_change(), unit), name);
  }
  if (rows.left_out != 0)
    text += fmt::format("({} more; --top 0 shows all)\n", with_thousands(rows.left_out));
  return text;
}

std::string diff_markdown(const DiffReport& report) {
  const Unit unit = report.diff.unit();
  std::string text = fmt::format("**CPU profile:** {}\n\n", whole_text(report));
  if (!report.gate.empty()) {
    text += "| gate | what | change | |\n|---|---|--:|---|\n";
    for (const GateResult& result : report.gate) {
      text += fmt::format("| {} | {} | {} | {} |\n", cell(result.rule), cell(result.what),
                          growth_text(result, unit), result.failed ? "**failed**" : "ok");
    }
    text += "\n";
  }
  text += "| function | total change | before | after | self change |\n|---|--:|--:|--:|--:|\n";
  const Rows rows = rows_of(report);
  for (const DiffFunction& function : rows.shown) {
    text += fmt::format("| {} | {} | {} | {} | {} |\n", cell(function.name),
                        signed_count(function.total_change(), unit), human_count(function.before_total, unit),
                        human_count(function.after_total, unit), signed_count(function.self_change(), unit));
  }
  if (rows.left_out != 0) text += fmt::format("\n{} more changed.\n", with_thousands(rows.left_out));
  return text;
}

Result<void> write_diff_json(const DiffReport& report, ByteSink& sink) {
  const Diff& diff = report.diff;
  json::Writer json(sink);
  json.begin_object();
  json.key("version").integer(kVersion);
  json.key("unit").string(to_string(diff.unit()));
  json.key("before").count(diff.before_unscaled());
  json.key("before_scaled").count(diff.before_total());
  json.key("after").count(diff.after_total());
  write_one_sided(json, "only_before", diff.vanished());
  write_one_sided(json, "only_after", diff.appeared());
  write_one_sided(json, "left_out", diff.left_out());
  json.key("gate").begin_array();
  for (const GateResult& result : report.gate) {
    json.line().begin_object();
    json.key("rule").string(result.rule);
    json.key("what").string(result.what);
    json.key("before").count(result.before);
    json.key("after").count(result.after);
    json.key("failed").boolean(result.failed);
    json.end_object();
  }
  json.end_array();
  json.key("functions").begin_array();
  for (const DiffFunction& function : diff.derive_functions()) write_function(json, function);
  json.end_array();
  json.end_object();
  return json.finish();
}

}  // namespace nodescope
