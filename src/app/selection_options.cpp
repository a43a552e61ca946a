#include "app/selection_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "app/note.h"
#include "base/text.h"

namespace nodescope {

namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

std::optional<std::int64_t> scaled(std::string_view number, double scale) {
  const auto value = parse_number<double>(number);
  if (!value || !std::isfinite(*value) || *value < 0 || *value * scale > 9e18) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(*value * scale));
}

Result<std::int64_t> time_of(const std::string& text, const char* option) {
  if (const auto time = parse_duration_ns(text)) return *time;
  return fail(ErrorCode::kUsage,
              fmt::format("{} {}: not a time; write 1.5s, 200ms or 01:30.5", option, text));
}

Result<std::optional<TimeRange>> time_range_of(const SelectionOptions& options) {
  if (options.from.empty() && options.until.empty()) return std::nullopt;
  TimeRange range{0, std::numeric_limits<std::int64_t>::max()};
  if (!options.from.empty()) {
    const auto begin = time_of(options.from, "--from");
    if (!begin) return std::unexpected(begin.error());
    range.begin_ns = *begin;
  }
  if (!options.until.empty()) {
    const auto end = time_of(options.until, "--until");
    if (!end) return std::unexpected(end.error());
    range.end_ns = *end;
  }
  if (range.end_ns <= range.begin_ns)
    return fail(ErrorCode::kUsage, "the time range is empty: --until is not after --from");
  return range;
}

// "4711" is a number, anything else a name.
void split_names(const std::vector<std::string>& given, std::vector<std::int32_t>& numbers,
                 std::vector<std::string>& names) {
  for (const std::string& text : given) {
    if (const auto number = parse_number<std::int32_t>(text)) {
      numbers.push_back(*number);
    } else {
      names.push_back(text);
    }
  }
}

Result<std::vector<FrameKind>> kinds_of(const std::vector<std::string>& names) {
  std::vector<FrameKind> kinds;
  for (const std::string& name : names) {
    const auto kind = frame_kind_of(name);
    if (!kind) {
      return fail(
          ErrorCode::kUsage,
          fmt::format("--kind {}: not one of js, native, kernel, builtin, gc, regexp, wasm, unknown", name));
    }
    kinds.push_back(*kind);
  }
  return kinds;
}

constexpr std::size_t kShownNames = 5;

// "node (4711)", as much of it as is known.
std::string name_and_number(std::string_view name, std::int32_t number) {
  if (number == 0) return printable(name);
  return name.empty() ? fmt::to_string(number) : fmt::format("{} ({})", printable(name), number);
}

// "; threads: a (1), b (2) and 3 more"
template <typename Entry>
std::string some_names(const char* what, const std::vector<Entry>& entries, const auto& name_of) {
  std::vector<std::string> names;
  for (const Entry& entry : entries) {
    std::string name = name_of(entry);
    if (!name.empty()) names.push_back(std::move(name));
  }
  if (names.empty()) return fmt::format("; {} are not known", what);
  const std::size_t shown = std::min(names.size(), kShownNames);
  std::string text = fmt::format(
      "; {}: {}", what, fmt::join(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

std::string event_names(const Profile& profile) {
  std::string names;
  for (const Event& event : profile.events()) {
    if (!names.empty()) names += ", ";
    names += printable(profile.text(event.name));
  }
  return names;
}

}  // namespace

void add_selection_options(CLI::App& command, SelectionOptions& options) {
  const std::string group = "Which samples";
  command
      .add_option("--from", options.from,
                  "Only samples from this time on, counted from the first (1.5s, 200ms)")
      ->type_name("TIME")
      ->group(group);
  command.add_option("--until", options.until, "Only samples before this time")
      ->type_name("TIME")
      ->group(group);
  // One value each time, or the file that follows would be one of them.
  const auto add_list = [&](const char* name, std::vector<std::string>& values, const char* type,
                            const char* description) {
    return command.add_option(name, values, description)
        ->allow_extra_args(false)
        ->type_name(type)
        ->group(group);
  };
  add_list("--process", options.processes, "PID|NAME", "Only this process; may be given several times");
  add_list("--thread", options.threads, "TID|NAME", "Only this thread; may be given several times");
  add_list("--kind", options.kinds, "KIND",
           "Only samples whose innermost frame is js, native, kernel, builtin, gc, regexp, wasm or unknown; "
           "several with commas")
      ->delimiter(',');
  add_list("--match", options.match, "REGEX",
           "Only stacks with a frame that this expression finds; may be given several times");
  add_list("--exclude", options.exclude, "REGEX",
           "No stacks with a frame that this expression finds; may be given several times");
  command.add_flag("--ignore-case", options.ignore_case, "For --match and --exclude")->group(group);
  command
      .add_flag(
          "--my-code", options.only_my_code,
          "Only your own functions: Node's internals, node_modules and native code become one frame each")
      ->group(group);
  command.add_option("--event", options.event, "Which event to count, where a recording has several")
      ->type_name("NAME")
      ->group(group);
  command
      .add_flag("--samples", options.count_samples,
                "Count samples instead of their weight (time, bytes, periods)")
      ->group(group);
}

bool has_times(const Profile& profile) {
  const SampleTable& samples = profile.samples;
  for (std::size_t i = 1; i < samples.size(); ++i) {
    if (samples.time_ns(i) != samples.time_ns(0)) return true;
  }
  return samples.size() == 1 && samples.time_ns(0) != 0;
}

std::string nothing_matches_text(const Profile& profile, const SelectionOptions& options) {
  std::vector<std::string> given;
  const auto add = [&](const char* option, const std::vector<std::string>& values) {
    for (const std::string& value : values) given.push_back(fmt::format("{} {}", option, printable(value)));
  };
  if (!options.from.empty()) add("--from", {options.from});
  if (!options.until.empty()) add("--until", {options.until});
  add("--process", options.processes);
  add("--thread", options.threads);
  add("--kind", options.kinds);
  add("--match", options.match);
  add("--exclude", options.exclude);
  std::string text = fmt::format("nothing matches {}", fmt::join(given, " "));
  if (!options.processes.empty()) {
    text += some_names("processes", profile.processes(), [&](const Process& process) {
      return name_and_number(profile.text(process.name), process.pid);
    });
  }
  if (!options.threads.empty()) {
    text += some_names("threads", profile.threads(), [&](const Thread& thread) {
      return name_and_number(profile.text(thread.name), thread.tid);
    });
  }
  return text;
}

Result<Selection> selection_of(const Profile& profile, const SelectionOptions& options,
                               std::string_view name) {
  Selection selection;
  if (!options.event.empty()) {
    selection.event = find_event(profile, options.event);
    if (!selection.event) {
      return fail(ErrorCode::kUsage, fmt::format("--event {}: not in this recording, which has: {}",
                                                 options.event, event_names(profile)));
    }
  }
  auto range = time_range_of(options);
  if (!range) return std::unexpected(range.error());
  if (*range && profile.samples.size() != 0 && !has_times(profile)) {
    return fail(ErrorCode::kUsage,
                fmt::format("{}: its samples have no times, so --from and --until select nothing", name));
  }
  auto kinds = kinds_of(options.kinds);
  if (!kinds) return std::unexpected(kinds.error());
  selection.time = *range;
  selection.kinds = *kinds;
  split_names(options.processes, selection.pids, selection.process_names);
  split_names(options.threads, selection.tids, selection.thread_names);
  selection.include = options.match;
  selection.exclude = options.exclude;
  selection.ignore_case = options.ignore_case;
  selection.only_my_code = options.only_my_code;
  return selection;
}

Result<Selected> select(Profile profile, const SelectionOptions& options, std::string_view name) {
  const auto selection = selection_of(profile, options, name);
  if (!selection) return std::unexpected(selection.error());
  const std::string reproach = nothing_matches_text(profile, options);
  auto selected = derive_selection(std::move(profile), *selection);
  if (selected && selected->accounting.shown == 0 && selected->accounting.filtered != 0)
    note("nodescope: {}: {}\n", printable(name), reproach);
  return selected;
}

std::optional<std::int64_t> parse_duration_ns(std::string_view text) {
  if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    const auto minutes = scaled(text.substr(0, colon), 60.0 * kSecondNs);
    const auto seconds = scaled(text.substr(colon + 1), kSecondNs);
    if (!minutes || !seconds || *seconds >= 60 * kSecondNs) return std::nullopt;
    return *minutes + *seconds;
  }
  constexpr std::array<std::pair<std::string_view, double>, 6> kSuffixes = {
      {{"ms", 1e6}, {"us", 1e3}, {"ns", 1}, {"s", 1e9}, {"m", 6e10}, {"h", 3.6e12}}};
  for (const auto& [suffix, scale] : kSuffixes) {
    if (text.ends_with(suffix)) return scaled(text.substr(0, text.size() - suffix.size()), scale);
  }
  return scaled(text, kSecondNs);
}

}  // namespace nodescope
