#include "app/diff_gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "app/selection_options.h"
#include "base/text.h"

namespace nodescope {

namespace {

constexpr std::string_view kPackagePrefix = "package:";
constexpr std::string_view kForm =
    "write [own:|package:NAME:|FUNCTION:]total>10% (or self>, and 200ms, 5MB, 100 or 3pt for a limit)";

std::unexpected<Error> wrong_rule(std::string_view text) {
  return fail(ErrorCode::kUsage, fmt::format("--fail-if {}: {}", text, kForm));
}

// "10%", "3pt", "200ms", "5MB", "100".
bool parse_limit(std::string_view text, GateRule& rule) {
  const auto number = [&](std::string_view suffix) -> std::optional<double> {
    if (!text.ends_with(suffix)) return std::nullopt;
    const auto value = parse_number<double>(text.substr(0, text.size() - suffix.size()));
    return value && std::isfinite(*value) && *value >= 0 ? value : std::nullopt;
  };
  if (const auto percent = number("%")) {
    rule.limit = GateRule::Limit::kPercent;
    rule.value = *percent;
    return true;
  }
  if (const auto points = number("pt")) {
    rule.limit = GateRule::Limit::kPoints;
    rule.value = *points;
    return true;
  }
  rule.limit = GateRule::Limit::kAmount;
  constexpr double kKilo = 1024;
  double scale = kKilo;
  for (const std::string_view suffix : {"KB", "MB", "GB"}) {
    if (const auto bytes = number(suffix)) {
      rule.value = *bytes * scale;
      return true;
    }
    scale *= kKilo;
  }
  if (const auto plain = number("")) {
    rule.value = *plain;
    return true;
  }
  const auto time = parse_duration_ns(text);
  rule.is_time = true;
  rule.value = static_cast<double>(time.value_or(0));
  return time.has_value();
}

bool ends_with_measure(std::string_view& subject, GateRule& rule) {
  for (const bool self : {false, true}) {
    const std::string_view measure = self ? "self" : "total";
    if (!subject.ends_with(measure)) continue;
    rule.self = self;
    subject.remove_suffix(measure.size());
    if (subject.empty()) return true;
    if (!subject.ends_with(':')) return false;
    subject.remove_suffix(1);
    return !subject.empty();
  }
  return false;
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

// What changed, as a candidate for a rule.
struct Measured {
  std::string what;
  std::uint64_t before = 0;
  std::uint64_t after = 0;
};

std::uint64_t scaled(std::uint64_t value, const Diff& diff) {
  if (diff.before_unscaled() == 0 || diff.before_total() == diff.before_unscaled()) return value;
  return static_cast<std::uint64_t>(
      std::llround(static_cast<double>(value) * static_cast<double>(diff.before_total()) /
                   static_cast<double>(diff.before_unscaled())));
}

const FunctionRow* find_row(const FunctionTable& table, std::string_view name) {
  const auto found = std::ranges::find(table.rows, name, &FunctionRow::name);
  return found == table.rows.end() ? nullptr : &*found;
}

std::vector<Measured> measure(const GateRule& rule, const GateInput& input) {
  if (rule.subject == GateRule::Subject::kAll)
    return {{"everything", input.diff.before_total(), input.diff.after_total()}};
  if (rule.subject == GateRule::Subject::kFunction) {
    std::vector<Measured> found;
    for (const DiffFunction& function : input.diff.derive_functions()) {
      if (function.name != rule.name && function.parts.name != rule.name) continue;
      found.push_back({function.name, rule.self ? function.before_self : function.before_total,
                       rule.self ? function.after_self : function.after_total});
    }
    return found;
  }
  const bool own = rule.subject == GateRule::Subject::kOwn;
  const std::string name = own ? to_string(CodeOrigin{Origin::kOwn, {}}) : rule.name;
  const FunctionRow* before = find_row(input.before_packages, name);
  const FunctionRow* after = find_row(input.after_packages, name);
  if (before == nullptr && after == nullptr) return {};
  const auto value = [&](const FunctionRow* row) {
    return row == nullptr ? 0 : rule.self ? row->self : row->total;
  };
  return {{own ? "own code" : "package " + name, scaled(value(before), input.diff), value(after)}};
}

double growth(const Measured& measured) {
  return static_cast<double>(measured.after) - static_cast<double>(measured.before);
}

// What a rule allows, in the unit of the profiles.
double allowance(const GateRule& rule, const Measured& measured, const Diff& diff) {
  switch (rule.limit) {
    case GateRule::Limit::kPercent: {
      // What is new grew without bounds; a hundredth of the whole is what noise may bring.
      const double least = static_cast<double>(diff.after_total()) / 100;
      return measured.before == 0 ? least : static_cast<double>(measured.before) * rule.value / 100;
    }
    case GateRule::Limit::kPoints:
      return static_cast<double>(diff.after_total()) * rule.value / 100;
    case GateRule::Limit::kAmount:
      break;
  }
  return rule.value;
}

}  // namespace

Result<GateRule> parse_gate_rule(std::string_view text) {
  GateRule rule;
  rule.text = text;
  const std::size_t mark = text.rfind('>');
  if (mark == std::string_view::npos) return wrong_rule(text);
  std::string_view subject = trimmed(text.substr(0, mark));
  if (!ends_with_measure(subject, rule) || !parse_limit(trimmed(text.substr(mark + 1)), rule))
    return wrong_rule(text);
  if (subject == "own") {
    rule.subject = GateRule::Subject::kOwn;
  } else if (subject.starts_with(kPackagePrefix)) {
    rule.subject = GateRule::Subject::kPackage;
    rule.name = subject.substr(kPackagePrefix.size());
    if (rule.name.empty()) return wrong_rule(text);
  } else if (!subject.empty()) {
    rule.subject = GateRule::Subject::kFunction;
    rule.name = subject;
  }
  return rule;
}

Result<std::vector<GateResult>> judge(const std::vector<GateRule>& rules, const GateInput& input) {
  std::vector<GateResult> results;
  for (const GateRule& rule : rules) {
    if (rule.limit == GateRule::Limit::kAmount && rule.is_time != (input.diff.unit() == Unit::kNanoseconds) &&
        rule.value != 0) {
      return fail(ErrorCode::kUsage, fmt::format("--fail-if {}: these profiles count {}", rule.text,
                                                 to_string(input.diff.unit())));
    }
    const std::vector<Measured> found = measure(rule, input);
    if (found.empty()) {
      return fail(ErrorCode::kUsage,
                  fmt::format("--fail-if {}: neither profile has {}", rule.text,
                              rule.subject == GateRule::Subject::kPackage ? "this package"
                              : rule.subject == GateRule::Subject::kOwn   ? "own code"
                                                                          : "a function of this name"));
    }
    const Measured& worst = *std::ranges::max_element(found, {}, growth);
    GateResult& result = results.emplace_back();
    result.rule = rule.text;
    result.what = worst.what;
    result.before = worst.before;
    result.after = worst.after;
    result.failed = growth(worst) > allowance(rule, worst, input.diff);
  }
  return results;
}

bool any_failed(const std::vector<GateResult>& results) {
  return std::ranges::any_of(results, &GateResult::failed);
}

std::string growth_text(const GateResult& result, Unit unit) {
  const std::string change =
      result.before == 0
          ? "new"
          : fmt::format("{:+.1f} %",
                        100 * (static_cast<double>(result.after) / static_cast<double>(result.before) - 1));
  return fmt::format("{} ({} -> {})", change, human_count(result.before, unit),
                     human_count(result.after, unit));
}

}  // namespace nodescope
