#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/diff.h"
#include "analysis/function_table.h"
#include "base/result.h"

namespace nodescope {

// "total>10%", "parseRows:self>200ms", "package:express:total>5pt", "own:total>1s": how much something may
// grow before a comparison fails.
struct GateRule {
  enum class Subject : std::uint8_t { kAll, kOwn, kPackage, kFunction };
  enum class Limit : std::uint8_t {
    kPercent,  // of what the same thing had before
    kPoints,   // share of the whole, in percentage points
    kAmount,   // time, bytes or samples
  };

  std::string text;  // as it was written
  Subject subject = Subject::kAll;
  std::string name;   // of a package or function
  bool self = false;  // else total
  Limit limit = Limit::kPercent;
  double value = 0;  // of an amount: in the smallest unit, ns or bytes
  bool is_time = false;

  bool operator==(const GateRule&) const = default;
};

Result<GateRule> parse_gate_rule(std::string_view text);

struct GateResult {
  std::string rule;
  std::string what;  // "parseRows /app/rows.js:3:19"
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  bool failed = false;

  bool operator==(const GateResult&) const = default;
};

// What rules are judged by.  The first profile's packages count as it does in `diff`: scaled if that is.
struct GateInput {
  const Diff& diff;
  const FunctionTable& before_packages;
  const FunctionTable& after_packages;
};

// One result for each rule, of the function that grew most where several have its name.  Fails with kUsage on
// a rule about something that neither profile has: a gate that watches nothing would always be open.
Result<std::vector<GateResult>> judge(const std::vector<GateRule>& rules, const GateInput& input);

bool any_failed(const std::vector<GateResult>& results);

// "+13 % (12.0 s -> 13.6 s)"
std::string growth_text(const GateResult& result, Unit unit);

}  // namespace nodescope
