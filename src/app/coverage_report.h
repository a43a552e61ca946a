#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/byte_sink.h"
#include "base/result.h"
#include "capture/inspector_session.h"

namespace nodescope {

// Where something begins, 1-based.
struct TextPlace {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

struct FunctionCoverage {
  std::string name;
  std::optional<TextPlace> place;  // nothing: the file's text is not at hand, or not the one that runs
  std::uint32_t begin = 0;         // in UTF-16 units
  std::uint32_t end = 0;
  std::uint64_t calls = 0;
  bool is_exact = true;              // else it was called at least so often
  std::vector<CoveredRange> blocks;  // of one thread: their counts cannot be added up between several
};

// Functions that V8 does not list did not run, but not all that did not run are missing.
struct FileCoverage {
  std::string file;
  std::vector<FunctionCoverage> functions;  // by where they begin
  std::uint64_t units_run = 0;
  std::optional<std::uint64_t> units;  // of its text, where that is at hand

  std::size_t functions_run() const;
};

// What ran while coverage was on, of all threads together.
struct CoverageReport {
  double seconds = 0;
  std::size_t threads = 0;
  std::vector<FileCoverage> files;   // what ran most is first
  std::size_t internal_scripts = 0;  // Node.js's own, which are left out
};

CoverageReport derive_coverage_report(const std::vector<ThreadCoverage>& threads, double seconds);
std::string coverage_text(const CoverageReport& report);
Result<void> write_coverage_json(const CoverageReport& report, ByteSink& sink);

// Where each line of UTF-8 text begins, in UTF-16 units; the last entry is the length of all.
std::vector<std::uint32_t> line_begins_utf16(std::string_view text);

}  // namespace nodescope
