#include "app/coverage_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <iterator>
#include <map>
#include <utility>

#include "base/text.h"
#include "json/writer.h"
#include "os/foreign_files.h"
#include "source_maps/source_names.h"
#include "target/live_process.h"

namespace nodescope {

namespace {

constexpr std::uint64_t kMaxSourceBytes = std::uint64_t{64} << 20;
constexpr std::size_t kMaxFunctionRows = 40;
constexpr std::size_t kMaxFileRows = 40;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool is_internal(std::string_view url) {
  return url.empty() || url.starts_with("node:");
}

// One script of all threads that have it.
struct Merged {
  std::map<std::pair<std::uint32_t, std::uint32_t>, FunctionCoverage> functions;  // by begin and end
  std::vector<CoveredRange> flat;
  std::uint32_t length = 0;
  pid_t pid = 0;
};

void merge(const CoveredScript& script, Merged& into) {
  for (const CoveredFunction& function : script.functions) {
    const CoveredRange& whole = function.ranges.front();
    FunctionCoverage& row = into.functions[{whole.begin, whole.end}];
    if (row.end == 0) {
      row.name = function.name;
      row.begin = whole.begin;
      row.end = whole.end;
      row.blocks.assign(function.ranges.begin() + 1, function.ranges.end());
    }
    row.calls += whole.count;
    row.is_exact = row.is_exact && function.is_exact;
    into.length = std::max(into.length, whole.end);
  }
  std::ranges::copy(flatten(script), std::back_inserter(into.flat));
}

// When the process began, since 1970.
std::optional<std::int64_t> start_of(pid_t pid) {
  const auto age = process_age_ns(pid);
  if (!age) return std::nullopt;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count() - static_cast<std::int64_t>(*age);
}

// Of the text as the process has it; nothing where it may not be the one that V8 has compiled.
std::vector<std::uint32_t> lines_of(pid_t pid, const std::string& file, std::uint32_t length) {
  if (pid == 0) return {};
  const auto start = start_of(pid);
  auto files = ForeignFiles::open(pid);
  if (!files || !start) return {};
  const auto read = files->read(file, kMaxSourceBytes);
  if (!read || read->modified_ns > *start) return {};
  std::string_view text = read->text;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  auto begins = line_begins_utf16(text);
  return begins.back() >= length ? std::move(begins) : std::vector<std::uint32_t>();
}

std::optional<TextPlace> place_of(const std::vector<std::uint32_t>& begins, std::uint32_t offset) {
  if (begins.size() < 2 || offset >= begins.back()) return std::nullopt;
  const auto after = std::ranges::upper_bound(begins.begin(), begins.end() - 1, offset);
  const auto line = static_cast<std::uint32_t>(after - begins.begin());
  return TextPlace{line, offset - *(after - 1) + 1};
}

std::string name_of(const FunctionCoverage& function, std::uint64_t length) {
  if (!function.name.empty()) return function.name;
  return function.begin == 0 && function.end == length ? "(script)" : "(anonymous)";
}

FileCoverage finished(const std::string& url, Merged merged) {
  FileCoverage file;
  const auto path = path_of_source(url);
  file.file = path.value_or(url);
  const auto begins = path ? lines_of(merged.pid, *path, merged.length) : std::vector<std::uint32_t>();
  if (!begins.empty()) file.units = begins.back();
  for (auto& [key, function] : merged.functions) {
    function.place = place_of(begins, function.begin);
    function.name = name_of(function, file.units.value_or(merged.length));
    file.functions.push_back(std::move(function));
  }
  file.units_run = count_units(std::move(merged.flat)).run;
  return file;
}

std::string percent(const FileCoverage& file) {
  if (file.units.value_or(0) == 0) return "-";
  return fmt::format("{:.1f} %",
                     100.0 * static_cast<double>(file.units_run) / static_cast<double>(*file.units));
}

std::string place_text(const FileCoverage& file, const FunctionCoverage& function) {
  return function.place ? fmt::format("{}:{}", printable(file.file), function.place->line)
                        : printable(file.file);
}

}  // namespace

std::size_t FileCoverage::functions_run() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(functions, [](const FunctionCoverage& function) { return function.calls != 0; }));
}

std::vector<std::uint32_t> line_begins_utf16(std::string_view text) {
  std::vector<std::uint32_t> begins{0};
  std::uint32_t units = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0) == 0x80) continue;  // a further byte of a character
    units += byte >= 0xf0 ? 2 : 1;
    if (c == '\n') begins.push_back(units);
  }
  begins.push_back(units);
  return begins;
}

CoverageReport derive_coverage_report(const std::vector<ThreadCoverage>& threads, double seconds) {
  CoverageReport report{.seconds = seconds, .threads = threads.size(), .files = {}};
  std::map<std::string, Merged> scripts;
  for (const ThreadCoverage& thread : threads) {
    for (const CoveredScript& script : thread.scripts) {
      if (is_internal(script.url)) {
        ++report.internal_scripts;
        continue;
      }
      Merged& merged = scripts[script.url];
      merged.pid = thread.thread.pid;
      merge(script, merged);
    }
  }
  for (auto& [url, merged] : scripts) report.files.push_back(finished(url, std::move(merged)));
  std::ranges::stable_sort(report.files, std::greater(), &FileCoverage::units_run);
  return report;
}

std::string coverage_text(const CoverageReport& report) {
  std::vector<std::pair<const FileCoverage*, const FunctionCoverage*>> run;
  for (const FileCoverage& file : report.files) {
    for (const FunctionCoverage& function : file.functions) {
      if (function.calls != 0) run.emplace_back(&file, &function);
    }
  }
  std::ranges::stable_sort(run, std::greater(), [](const auto& row) { return row.second->calls; });
  const bool all_exact = std::ranges::all_of(run, [](const auto& row) { return row.second->is_exact; });
  std::string text =
      fmt::format("{} functions in {} files ran in {:.1f} s, in {}\n", with_thousands(run.size()),
                  with_thousands(report.files.size()), report.seconds,
                  report.threads == 1 ? "one thread" : fmt::format("{} threads", report.threads));
  const auto out = std::back_inserter(text);
  if (!run.empty()) fmt::format_to(out, "\n{:>14}  {:<32}  {}\n", "calls", "function", "place");
  for (std::size_t i = 0; i < std::min(run.size(), kMaxFunctionRows); ++i) {
    const auto& [file, function] = run[i];
    const std::string calls = (function->is_exact ? "" : ">= ") + with_thousands(function->calls);
    fmt::format_to(out, "{:>14}  {:<32}  {}\n", calls, printable(function->name),
                   place_text(*file, *function));
  }
  if (run.size() > kMaxFunctionRows)
    fmt::format_to(out, "and {} more; -o FILE.json has all\n", with_thousands(run.size() - kMaxFunctionRows));
  if (!all_exact)
    text += ">=: compiled before; V8 stops to count the calls of such a function when it optimizes it\n";
  if (!report.files.empty())
    fmt::format_to(out, "\n{:>14}  {:>11}  {}\n", "functions run", "of the text", "file");
  for (std::size_t i = 0; i < std::min(report.files.size(), kMaxFileRows); ++i) {
    const FileCoverage& file = report.files[i];
    fmt::format_to(out, "{:>14}  {:>11}  {}\n", with_thousands(file.functions_run()), percent(file),
                   printable(file.file));
  }
  if (report.files.size() > kMaxFileRows)
    fmt::format_to(out, "and {} more\n", with_thousands(report.files.size() - kMaxFileRows));
  return text;
}

Result<void> write_coverage_json(const CoverageReport& report, ByteSink& sink) {
  json::Writer json(sink);
  json.begin_object();
  json.key("version").count(1);
  json.key("seconds").decimal(static_cast<std::int64_t>(report.seconds * 1000), 3);
  json.key("threads").count(report.threads);
  json.key("internal_scripts").count(report.internal_scripts);
  json.key("files").begin_array();
  for (const FileCoverage& file : report.files) {
    json.line().begin_object();
    json.key("file").string(file.file);
    json.key("functions_run").count(file.functions_run());
    json.key("units_run").count(file.units_run);
    json.key("units");
    file.units ? json.count(*file.units) : json.null();
    json.key("functions").begin_array();
    for (const FunctionCoverage& function : file.functions) {
      json.line().begin_object();
      json.key("name").string(function.name);
      json.key("line");
      function.place ? json.count(function.place->line) : json.null();
      json.key("column");
      function.place ? json.count(function.place->column) : json.null();
      json.key("calls").count(function.calls);
      json.key("exact").boolean(function.is_exact);
      json.key("start_offset").count(function.begin);
      json.key("end_offset").count(function.end);
      json.key("blocks").begin_array();
      for (const CoveredRange& block : function.blocks) {
        json.begin_object();
        json.key("start_offset").count(block.begin);
        json.key("end_offset").count(block.end);
        json.key("count").count(block.count);
        json.end_object();
      }
      json.end_array().end_object();
    }
    json.end_array().end_object();
  }
  json.end_array().end_object();
  return json.finish();
}

}  // namespace nodescope
