#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/diff.h"
#include "app/diff_gate.h"
#include "base/byte_sink.h"
#include "base/result.h"

namespace nodescope {

struct DiffReport {
  const Diff& diff;
  const std::vector<GateResult>& gate;
  bool is_scaled = false;  // the first profile, to the sum of the second
  std::size_t top = 0;     // rows; 0: all
  std::size_t max_columns = 0;
};

// For a terminal or a log.
std::string diff_text(const DiffReport& report);
// For the description of a pull request.
std::string diff_markdown(const DiffReport& report);
Result<void> write_diff_json(const DiffReport& report, ByteSink& sink);

}  // namespace nodescope
