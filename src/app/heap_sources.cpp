// Where memory comes from: texts, closures, the functions that allocated it.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "analysis/heap/allocation_sites.h"
#include "analysis/heap/captured.h"
#include "analysis/heap/place.h"
#include "app/heap_lines.h"
#include "app/heap_report.h"
#include "base/flat_map.h"
#include "base/path.h"
#include "base/text.h"
#include "json/writer.h"

namespace nodescope {

namespace {

struct DuplicateString {
  std::uint32_t name = 0;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;

  std::uint64_t wasted() const { return count < 2 ? 0 : bytes - bytes / count; }
};

std::vector<DuplicateString> duplicate_strings(const HeapAnalysis& heap) {
  const HeapGraph& graph = heap.graph();
  FlatMap<std::string_view, DuplicateString> by_text;
  for (std::uint32_t node = 0; node < graph.node_count(); ++node) {
    if (graph.type(node) != HeapNodeType::kString) continue;
    DuplicateString& text = by_text[graph.name(node)];
    text.name = graph.names[node];
    ++text.count;
    text.bytes += heap.shallow_size(node);
  }
  std::vector<DuplicateString> strings;
  for (const auto& [text, duplicate] : by_text) {
    if (duplicate.count > 1) strings.push_back(duplicate);
  }
  std::ranges::sort(strings, [](const DuplicateString& a, const DuplicateString& b) {
    return std::pair(a.wasted(), b.name) > std::pair(b.wasted(), a.name);
  });
  return strings;
}

}  // namespace

Result<void> write_heap_strings(const HeapAnalysis& heap, const HeapReportOptions& options, ByteSink& sink) {
  const auto strings = duplicate_strings(heap);
  const auto text_of = [&](const DuplicateString& text) { return heap.graph().strings[text.name]; };
  if (options.json) {
    json::Writer json(sink);
    json.begin_object().key("strings").begin_array();
    for (const DuplicateString& row : strings) {
      json.line().begin_object();
      json.key("text").string(text_of(row));
      json.key("count").count(row.count);
      json.key("bytes").count(row.bytes);
      json.key("wasted_bytes").count(row.wasted());
      json.end_object();
    }
    json.end_array().end_object();
    return json.finish();
  }
  const std::uint64_t wasted =
      std::accumulate(strings.begin(), strings.end(), std::uint64_t{0},
                      [](std::uint64_t sum, const DuplicateString& row) { return sum + row.wasted(); });
  std::string text = fmt::format(
      "{} texts are there more than once; one of each would save {}\n\n{:>10} {:>10} {:>10}  {}\n",
      with_thousands(strings.size()), human_bytes(wasted), "wasted", "bytes", "count", "text");
  const std::size_t shown = shown_count(strings.size(), options);
  HeapReportOptions narrow = options;
  narrow.columns = options.columns > kLongestText + 38 ? options.columns - 38 : kLongestText;
  for (const DuplicateString& row : std::span(strings).first(shown)) {
    fmt::format_to(std::back_inserter(text), "{:>10} {:>10} {:>10}  \"{}\"\n", human_bytes(row.wasted()),
                   human_bytes(row.bytes), with_thousands(row.count), fitted(text_of(row), narrow, 0));
  }
  append_rest(strings.size(), shown, text);
  return sink.write(text);
}

namespace {

// "make (/app/a.js:5:3)"
std::string site_text(const HeapGraph& graph, const HeapTraceFunction& function) {
  const std::string_view name = graph.strings[function.name];
  const std::string_view file = graph.strings[function.script_name];
  std::string text(name.empty() ? "(anonymous)" : name);
  if (file.empty()) return text;
  text += fmt::format(" ({}", file);
  if (function.line != 0) text += fmt::format(":{}:{}", function.line, function.column);
  return text + ")";
}

}  // namespace

Result<void> write_heap_allocations(const HeapAnalysis& heap, const HeapReportOptions& options,
                                    ByteSink& sink) {
  const HeapGraph& graph = heap.graph();
  const auto sites = derive_allocation_sites(heap);
  if (sites.empty()) {
    return fail(
        ErrorCode::kNotFound,
        "this snapshot does not say where objects were allocated; one that was taken while allocations "
        "were tracked does (DevTools: Allocations on timeline, with stacks)");
  }
  if (options.json) {
    json::Writer json(sink);
    json.begin_object().key("sites").begin_array();
    for (const AllocationSite& site : sites) {
      const HeapTraceFunction& function = graph.trace_functions[site.function];
      json.line().begin_object().key("function").string(graph.strings[function.name]);
      json.key("file").string(graph.strings[function.script_name]);
      json.key("line").count(function.line).key("column").count(function.column);
      json.key("live_count").count(site.live_count).key("live_bytes").count(site.live_bytes);
      json.key("count").count(site.count).key("bytes").count(site.bytes).end_object();
    }
    json.end_array().end_object();
    return json.finish();
  }
  std::string text =
      fmt::format("{:>10} {:>12} {:>10} {:>12}  {}\n", "live", "objects", "allocated", "objects", "by");
  const std::size_t shown = shown_count(sites.size(), options);
  for (const AllocationSite& site : std::span(sites).first(shown)) {
    fmt::format_to(std::back_inserter(text), "{:>10} {:>12} {:>10} {:>12}  {}\n",
                   human_bytes(site.live_bytes), with_thousands(site.live_count), human_bytes(site.bytes),
                   with_thousands(site.count),
                   fitted(site_text(graph, graph.trace_functions[site.function]), options, 49));
  }
  append_rest(sites.size(), shown, text);
  return sink.write(text);
}

namespace {

Result<void> closures_json(const HeapAnalysis& heap, std::span<const CapturedScope> scopes, ByteSink& sink) {
  json::Writer json(sink);
  json.begin_object().key("scopes").begin_array();
  for (const CapturedScope& scope : scopes) {
    json.line().begin_object().key("function").string(scope.function).key("file").string(scope.file);
    json.key("count").count(scope.count).key("functions").count(scope.functions);
    json.key("retained_bytes").count(scope.retained_bytes).key("variables").begin_array();
    for (const CapturedScope::Variable& variable : scope.variables) {
      json.begin_object().key("name").string(variable.name);
      json.key("largest_id").count(heap.graph().ids[variable.largest]);
      json.key("largest_class").string(heap.class_name(variable.largest));
      json.key("largest_retained_bytes").count(heap.retained_size(variable.largest)).end_object();
    }
    json.end_array().end_object();
  }
  json.end_array().end_object();
  return json.finish();
}

// "big, req, 3 more (make in app.js)", those with the largest values first.
std::string scope_text(const HeapAnalysis& heap, const CapturedScope& scope) {
  constexpr std::size_t kMostNames = 4;
  std::vector<CapturedScope::Variable> variables = scope.variables;
  std::ranges::stable_sort(variables, std::greater<>(), [&](const CapturedScope::Variable& variable) {
    return heap.retained_size(variable.largest);
  });
  std::string text;
  for (const CapturedScope::Variable& variable :
       std::span(variables).first(std::min(kMostNames, variables.size())))
    text += (text.empty() ? "" : ", ") + variable.name;
  if (variables.size() > kMostNames) text += fmt::format(", {} more", variables.size() - kMostNames);
  if (scope.file.empty() && scope.function.empty()) return text;
  text += fmt::format(" ({}", scope.function.empty() ? "(anonymous)" : scope.function);
  if (!scope.file.empty()) text += fmt::format(" in {}", file_name_of(scope.file));
  return text + ")";
}

}  // namespace

Result<void> write_heap_closures(const HeapAnalysis& heap, const HeapReportOptions& options, ByteSink& sink) {
  const auto scopes = derive_captured_scopes(heap, derive_reach(heap.graph()));
  if (options.json) return closures_json(heap, scopes, sink);
  std::string text =
      fmt::format("{:>10} {:>10} {:>10}  {}\n", "retained", "scopes", "functions", "variables");
  const std::size_t shown = shown_count(scopes.size(), options);
  for (const CapturedScope& scope : std::span(scopes).first(shown)) {
    fmt::format_to(std::back_inserter(text), "{:>10} {:>10} {:>10}  {}\n", human_bytes(scope.retained_bytes),
                   with_thousands(scope.count), with_thousands(scope.functions),
                   fitted(scope_text(heap, scope), options, 34));
  }
  append_rest(scopes.size(), shown, text);
  return sink.write(text);
}

}  // namespace nodescope
