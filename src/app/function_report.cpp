#include "app/function_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

#include "base/text.h"

namespace nodescope {

namespace {

std::string time_span(const Profile& profile) {
  const SampleTable& samples = profile.samples;
  if (samples.size() == 0) return "";
  std::int64_t first = samples.time_ns(0);
  std::int64_t last = first;
  for (std::size_t i = 1; i < samples.size(); ++i) {
    first = std::min(first, samples.time_ns(i));
    last = std::max(last, samples.time_ns(i));
  }
  if (first == last) return "";
  return " over " + human_duration_ns(static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first));
}

}  // namespace

std::string shortened(std::string name, std::size_t width) {
  constexpr std::size_t kShortest = 20;
  width = std::max(width, kShortest);
  if (name.size() <= width) return name;
  const std::size_t head = (width - 3) / 2;
  const std::size_t tail = width - 3 - head;
  return to_valid_utf8(name.substr(0, head)) + "..." + to_valid_utf8(name.substr(name.size() - tail));
}

std::string function_table_text(const FunctionTable& table, const TableTextOptions& options) {
  const bool shows_kind = has_kinds(table.group);
  const std::size_t fixed_columns = shows_kind ? 48 : 39;
  const auto kind_column = [&](std::string_view kind) {
    return shows_kind ? fmt::format("{:<8} ", kind) : std::string();
  };
  std::string text = fmt::format("{:>10} {:>7} {:>10} {:>7}  {}{}\n", "self", "", "total", "",
                                 kind_column("kind"), options.heading);
  const std::size_t count = options.top == 0 ? table.rows.size() : std::min(options.top, table.rows.size());
  for (const FunctionRow& row : std::span(table.rows).first(count)) {
    std::string name = printable(row.name);
    if (options.max_columns != 0) {
      name = shortened(std::move(name),
                       options.max_columns > fixed_columns ? options.max_columns - fixed_columns : 0);
    }
    fmt::format_to(std::back_inserter(text), "{:>10} {:>5.1f} % {:>10} {:>5.1f} %  {}{}\n",
                   human_count(row.self, table.unit), percent(row.self, table.total),
                   human_count(row.total, table.unit), percent(row.total, table.total),
                   kind_column(to_string(row.kind)), name);
  }
  if (options.says_more && count < table.rows.size()) {
    fmt::format_to(std::back_inserter(text), "({} more; --top 0 shows all)\n",
                   with_thousands(table.rows.size() - count));
  }
  return text;
}

FunctionTable own_functions(const FunctionTable& table) {
  FunctionTable own = table;
  std::erase_if(own.rows, [](const FunctionRow& row) {
    return row.origin != Origin::kOwn || row.kind != FrameKind::kJs || row.name == "[unknown js]";
  });
  std::ranges::stable_sort(own.rows, std::ranges::greater(), &FunctionRow::total);
  return own;
}

std::string accounting_text(const Profile& profile, const Accounting& accounting) {
  std::string text = fmt::format("{} samples{}", with_thousands(accounting.shown), time_span(profile));
  if (!profile.events().empty())
    text += fmt::format(", {}", printable(profile.text(profile.events().front().name)));
  std::string missing;
  const auto mention = [&](std::uint64_t count, const char* what) {
    if (count != 0)
      missing += fmt::format("{}{} {}", missing.empty() ? "; " : ", ", with_thousands(count), what);
  };
  mention(accounting.filtered, "filtered");
  mention(accounting.other_events, "of other events");
  mention(accounting.lost, "lost");
  return text + missing;
}

std::string causes_text(const CauseTotals& causes) {
  constexpr double kLeastPercent = 0.05;
  std::array<Cause, kCauseCount> order = {};
  for (std::size_t i = 0; i < kCauseCount; ++i) order[i] = static_cast<Cause>(i);
  const auto sum_of = [&](Cause cause) { return causes.by[static_cast<std::size_t>(cause)]; };
  if (causes.total == sum_of(Cause::kOther)) return {};
  std::ranges::stable_sort(order, std::ranges::greater(), sum_of);
  std::string text;
  for (const Cause cause : order) {
    if (sum_of(cause) == 0) continue;
    const double share = percent(sum_of(cause), causes.total);
    text += fmt::format("{}{} {} %", text.empty() ? "by cause: " : ", ", to_string(cause),
                        share < kLeastPercent ? "<0.1" : fmt::format("{:.1f}", share));
  }
  return text + "\n";
}

void write_accounting(json::Writer& json, const Accounting& accounting) {
  json.key("taken").count(accounting.taken);
  json.key("shown").count(accounting.shown);
  json.key("filtered").count(accounting.filtered);
  json.key("other_events").count(accounting.other_events);
  json.key("lost").count(accounting.lost);
}

void write_diagnostics(json::Writer& json, const Diagnostics& diagnostics) {
  constexpr std::array<std::string_view, 3> kSeverities = {"info", "warning", "error"};
  json.begin_array();
  for (const Diagnostic& entry : diagnostics.entries()) {
    json.begin_object();
    json.key("what").string(entry.what);
    json.key("severity").string(kSeverities[static_cast<std::size_t>(entry.severity)]);
    json.key("count").count(entry.count);
    json.key("example").string(entry.example);
    json.end_object();
  }
  json.end_array();
}

}  // namespace nodescope
