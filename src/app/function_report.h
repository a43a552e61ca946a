#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "analysis/cause.h"
#include "analysis/function_table.h"
#include "analysis/selection.h"
#include "base/diagnostics.h"
#include "json/writer.h"

namespace nodescope {

inline double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

// Cut in the middle, so that the function's name and the line at the end both stay.
std::string shortened(std::string name, std::size_t width);

struct TableTextOptions {
  std::size_t top = 0;          // rows; 0: all
  std::size_t max_columns = 0;  // of a line; 0: names are never cut
  std::string heading = "function";
  bool says_more = true;  // how many rows are left out
};

// Columns for a terminal: self, total, kind where rows have one, name.  Says how many rows it left out.
std::string function_table_text(const FunctionTable& table, const TableTextOptions& options);

// Only the application's own JavaScript, by total.
FunctionTable own_functions(const FunctionTable& table);

// "1,234 samples over 10.1 s, cpu-clock; 12 filtered, 3 lost"
std::string accounting_text(const Profile& profile, const Accounting& accounting);

// "by cause: js 61.2 %, gc 12.0 %, native 9.8 %", largest first, as the page has it, and a line break.
// Nothing where no cause is known.
std::string causes_text(const CauseTotals& causes);

// "taken", "shown", "filtered", "other_events", "lost" of an object that is open in `json`.
void write_accounting(json::Writer& json, const Accounting& accounting);

// An array of {what, severity, count, example}.
void write_diagnostics(json::Writer& json, const Diagnostics& diagnostics);

}  // namespace nodescope
