#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nodescope {

// A part of a script, and how often it ran.  In UTF-16 units of the script's text, as V8 counts.
struct CoveredRange {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint64_t count = 0;

  bool operator==(const CoveredRange&) const = default;
};

struct CoveredFunction {
  std::string name;                  // empty: it has none, or is the script itself
  std::vector<CoveredRange> ranges;  // never empty; the first is the function, the others blocks in it
  // Else it was compiled before coverage was on: V8 does not count its calls any more once it is optimized.
  bool is_exact = false;

  std::uint64_t calls() const { return ranges.front().count; }
};

struct CoveredScript {
  std::string url;  // "file:///app/server.js", "node:internal/…"
  std::vector<CoveredFunction> functions;
};

// The reply to Profiler.takePreciseCoverage.  What makes no sense in it is left out.
Result<std::vector<CoveredScript>> parse_coverage(std::string_view reply);

// The same without nesting: what is apart, in order, each with the count of the innermost range there.
std::vector<CoveredRange> flatten(const CoveredScript& script);

// How much of a script was run by any of several threads, from the flat ranges of all of them.
struct CoveredUnits {
  std::uint64_t run = 0;
  std::uint64_t all = 0;

  bool operator==(const CoveredUnits&) const = default;
};
CoveredUnits count_units(std::vector<CoveredRange> flat);

}  // namespace nodescope
