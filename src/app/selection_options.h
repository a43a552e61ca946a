#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/call_tree.h"
#include "analysis/selection.h"
#include "base/result.h"

namespace CLI {
class App;
}

namespace nodescope {

// The filters that every command has, as typed.
struct SelectionOptions {
  std::string from;
  std::string until;
  std::vector<std::string> processes;
  std::vector<std::string> threads;
  std::vector<std::string> kinds;
  std::vector<std::string> match;
  std::vector<std::string> exclude;
  std::string event;
  bool ignore_case = false;
  bool only_my_code = false;
  bool count_samples = false;

  bool operator==(const SelectionOptions&) const = default;

  CountBy count_by() const { return count_samples ? CountBy::kSamples : CountBy::kWeight; }
};

void add_selection_options(CLI::App& command, SelectionOptions& options);

// What was typed, for `profile`, which messages call `name`.  Fails with kUsage on a range of time where
// samples have no times.
Result<Selection> selection_of(const Profile& profile, const SelectionOptions& options,
                               std::string_view name);

// Tells on standard error if filters left nothing, and which processes and threads there are.
Result<Selected> select(Profile profile, const SelectionOptions& options, std::string_view name);

// Whether samples differ in time; a format without times has all of them at one.
bool has_times(const Profile& profile);

// One line about filters that nothing matches: "nothing matches --process x; processes: node (4711), sh
// (4712)".
std::string nothing_matches_text(const Profile& profile, const SelectionOptions& options);

// "1.5" and "1.5s" are seconds; also ms, us, ns, m, h, and "01:30.5".
std::optional<std::int64_t> parse_duration_ns(std::string_view text);

}  // namespace nodescope
