#include "capture/coverage.h"

#include <algorithm>
#include <limits>

#include "base/byte_source.h"
#include "base/diagnostics.h"
#include "json/reader.h"

namespace nodescope {

namespace {

std::uint32_t read_offset(json::Reader& reader) {
  const auto number = reader.number();
  constexpr std::uint64_t kMax = std::numeric_limits<std::uint32_t>::max();
  return number ? static_cast<std::uint32_t>(std::min(number->as_count(), kMax)) : 0;
}

CoveredRange read_range(json::Reader& reader) {
  CoveredRange range;
  auto members = reader.object();
  while (const auto key = members.next()) {
    if (*key == "startOffset") range.begin = read_offset(reader);
    if (*key == "endOffset") range.end = read_offset(reader);
    if (*key == "count") {
      const auto count = reader.number();
      range.count = count ? count->as_count() : 0;
    }
  }
  return range;
}

CoveredFunction read_function(json::Reader& reader) {
  CoveredFunction function;
  auto members = reader.object();
  while (const auto key = members.next()) {
    if (*key == "isBlockCoverage") function.is_exact = reader.boolean().value_or(false);
    if (*key == "functionName") function.name = reader.string().value_or("");
    if (*key == "ranges") {
      auto ranges = reader.array();
      while (ranges.next()) {
        const CoveredRange range = read_range(reader);
        if (range.begin < range.end) function.ranges.push_back(range);
      }
    }
  }
  return function;
}

CoveredScript read_script(json::Reader& reader) {
  CoveredScript script;
  auto members = reader.object();
  while (const auto key = members.next()) {
    if (*key == "url") script.url = reader.string().value_or("");
    if (*key == "functions") {
      auto functions = reader.array();
      while (functions.next()) {
        CoveredFunction function = read_function(reader);
        if (!function.ranges.empty()) script.functions.push_back(std::move(function));
      }
    }
  }
  return script;
}

}  // namespace

Result<std::vector<CoveredScript>> parse_coverage(std::string_view reply) {
  std::vector<CoveredScript> scripts;
  MemorySource source(reply, "the inspector's coverage");
  json::Reader reader(source);
  auto members = reader.object();
  while (const auto key = members.next()) {
    if (*key != "result") continue;
    auto results = reader.object();
    while (const auto name = results.next()) {
      if (*name != "result") continue;
      auto elements = reader.array();
      while (elements.next()) {
        CoveredScript script = read_script(reader);
        if (!script.functions.empty()) scripts.push_back(std::move(script));
      }
    }
  }
  Diagnostics ignored;  // of the text: names are shown with care anyway
  if (auto finished = reader.finish(ignored, !scripts.empty()); !finished)
    return std::unexpected(finished.error());
  return scripts;
}

// Ranges of a script are nested or apart.  From the outermost to the innermost: each takes its units from the
// one around it.
std::vector<CoveredRange> flatten(const CoveredScript& script) {
  std::vector<CoveredRange> ranges;
  for (const CoveredFunction& function : script.functions)
    ranges.insert(ranges.end(), function.ranges.begin(), function.ranges.end());
  std::ranges::stable_sort(ranges, [](const CoveredRange& a, const CoveredRange& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::vector<CoveredRange> flat;
  std::vector<CoveredRange> around;
  std::uint32_t reached = 0;
  const auto take_until = [&](std::uint32_t end) {
    if (end <= reached) return;
    flat.push_back({reached, end, around.back().count});
    reached = end;
  };
  const auto leave_before = [&](std::uint32_t place) {
    while (!around.empty() && around.back().end <= place) {
      take_until(around.back().end);
      around.pop_back();
    }
  };
  for (const CoveredRange& range : ranges) {
    leave_before(range.begin);
    if (around.empty()) {
      reached = std::max(reached, range.begin);
    } else {
      take_until(range.begin);
    }
    around.push_back(range);
  }
  leave_before(std::numeric_limits<std::uint32_t>::max());
  return flat;
}

CoveredUnits count_units(std::vector<CoveredRange> flat) {
  std::ranges::sort(flat, {}, &CoveredRange::begin);
  CoveredUnits units;
  std::uint32_t reached = 0;
  std::uint32_t run_until = 0;
  for (const CoveredRange& range : flat) {
    if (range.end > reached) units.all += range.end - std::max(range.begin, reached);
    reached = std::max(reached, range.end);
    if (range.count == 0) continue;
    if (range.end > run_until) units.run += range.end - std::max(range.begin, run_until);
    run_until = std::max(run_until, range.end);
  }
  return units;
}

}  // namespace nodescope
