#include "target/invocation.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"

namespace nodescope {

namespace {

// Options of node whose value is the next argument.  V8's own options take "=" only.
constexpr std::string_view kOptionsWithValue[] = {"-C",
                                                  "-r",
                                                  "--allow-fs-read",
                                                  "--allow-fs-write",
                                                  "--build-sea",
                                                  "--build-snapshot-config",
                                                  "--conditions",
                                                  "--cpu-prof-dir",
                                                  "--cpu-prof-interval",
                                                  "--cpu-prof-name",
                                                  "--debug-port",
                                                  "--diagnostic-dir",
                                                  "--disable-proto",
                                                  "--disable-warning",
                                                  "--dns-result-order",
                                                  "--env-file",
                                                  "--env-file-if-exists",
                                                  "--es-module-specifier-resolution",
                                                  "--experimental-config-file",
                                                  "--experimental-default-type",
                                                  "--experimental-loader",
                                                  "--experimental-sea-config",
                                                  "--heap-prof-dir",
                                                  "--heap-prof-interval",
                                                  "--heap-prof-name",
                                                  "--heapsnapshot-near-heap-limit",
                                                  "--heapsnapshot-signal",
                                                  "--icu-data-dir",
                                                  "--import",
                                                  "--input-type",
                                                  "--inspect-port",
                                                  "--inspect-publish-uid",
                                                  "--loader",
                                                  "--localstorage-file",
                                                  "--max-http-header-size",
                                                  "--network-family-autoselection-attempt-timeout",
                                                  "--openssl-config",
                                                  "--redirect-warnings",
                                                  "--report-dir",
                                                  "--report-directory",
                                                  "--report-filename",
                                                  "--report-signal",
                                                  "--require",
                                                  "--secure-heap",
                                                  "--secure-heap-min",
                                                  "--snapshot-blob",
                                                  "--stack-trace-limit",
                                                  "--test-concurrency",
                                                  "--test-name-pattern",
                                                  "--test-reporter",
                                                  "--test-reporter-destination",
                                                  "--test-shard",
                                                  "--test-skip-pattern",
                                                  "--test-timeout",
                                                  "--title",
                                                  "--tls-cipher-list",
                                                  "--tls-keylog",
                                                  "--trace-event-categories",
                                                  "--trace-event-file-pattern",
                                                  "--trace-require-module",
                                                  "--unhandled-rejections",
                                                  "--use-largepages",
                                                  "--v8-pool-size",
                                                  "--watch-path"};

constexpr std::string_view kEvalOptions[] = {"-e", "-p", "-pe", "--eval", "--print"};

// More arguments than any service has; of a longer list the end is not looked at.
constexpr std::size_t kMaxArguments = 4096;

bool is_one_of(std::string_view text, auto const& names) {
  return std::ranges::find(names, text) != std::end(names);
}

// Up to the next NUL, which goes too.
std::string_view take_string(std::string_view& text) {
  const std::size_t end = std::min(text.find('\0'), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(text.size(), end + 1));
  return taken;
}

std::string script_of(const std::vector<std::string_view>& arguments) {
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "-") return "[stdin]";
    if (argument == "--") return i + 1 < arguments.size() ? std::string(arguments[i + 1]) : std::string();
    if (is_one_of(argument, kEvalOptions) || argument.starts_with("--eval=") ||
        argument.starts_with("--print="))
      return "[eval]";
    if (argument == "--test") return "[test]";
    if (argument == "--run" && i + 1 < arguments.size()) return "[run " + std::string(arguments[i + 1]) + "]";
    if (argument == "inspect" && i + 1 < arguments.size()) continue;
    if (!argument.starts_with('-')) return std::string(argument);
    if (is_one_of(argument, kOptionsWithValue)) ++i;
  }
  return {};
}

// The value of "key":"…" or "key":… in JSON that pm2 wrote.  A value with an escape in it is left out: it is
// no path or name that anyone types.
std::string json_value(std::string_view json, std::string_view key) {
  const std::string mark = "\"" + std::string(key) + "\":";
  const std::size_t at = json.find(mark);
  if (at == std::string_view::npos) return {};
  std::string_view rest = json.substr(at + mark.size());
  const bool quoted = rest.starts_with('"');
  if (quoted) rest.remove_prefix(1);
  const std::string_view value = rest.substr(0, rest.find_first_of(quoted ? "\"" : ",}"));
  return value.find('\\') == std::string_view::npos ? std::string(value) : std::string();
}

std::string_view field_of(std::string_view fields, std::size_t index) {
  for (; index > 0; --index) {
    const std::size_t space = fields.find(' ');
    if (space == std::string_view::npos) return {};
    fields.remove_prefix(space + 1);
  }
  return fields.substr(0, fields.find_first_of(" \n"));
}

}  // namespace

// "4711 (a name (2)) S 1 …": the name may hold anything, so its end is the last parenthesis.
std::optional<ProcessStat> parse_process_stat(std::string_view text) {
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open ||
      close + 2 > text.size())
    return std::nullopt;
  const std::string_view rest = text.substr(close + 2);
  // Counted from the state, which proc(5) numbers 3.
  const auto parent = parse_number<pid_t>(field_of(rest, 1));
  const auto flags = parse_number<std::uint32_t>(field_of(rest, 6));
  const auto user = parse_number<std::uint64_t>(field_of(rest, 11));
  const auto system = parse_number<std::uint64_t>(field_of(rest, 12));
  const auto threads = parse_number<std::uint32_t>(field_of(rest, 17));
  const auto start = parse_number<std::uint64_t>(field_of(rest, 19));
  const auto resident = parse_number<std::uint64_t>(field_of(rest, 21));
  if (!parent || !flags || !user || !system || !threads || !start || !resident) return std::nullopt;
  constexpr std::uint32_t kKernelThread = 0x0020'0000;  // PF_KTHREAD
  return ProcessStat{std::string(text.substr(open + 1, close - open - 1)),
                     *parent,
                     *user + *system,
                     *start,
                     *resident,
                     *threads,
                     (*flags & kKernelThread) != 0};
}

// process.title overwrites the memory of the arguments: what is left is one text, with NULs behind it up to
// the length of what was there.
Invocation parse_invocation(std::string_view command_line) {
  std::vector<std::string_view> arguments;
  std::string_view rest = command_line;
  while (!rest.empty() && arguments.size() < kMaxArguments) arguments.push_back(take_string(rest));
  if (arguments.empty()) return {};
  const bool only_one = std::ranges::all_of(arguments.begin() + 1, arguments.end(),
                                            [](std::string_view a) { return a.empty(); });
  if (!only_one) return {script_of(arguments), {}};
  std::string_view title = arguments[0];
  while (title.ends_with(' ')) title.remove_suffix(1);
  return {{}, std::string(title)};
}

LaunchMarks parse_launch_marks(std::string_view environment) {
  LaunchMarks marks;
  while (!environment.empty()) {
    const std::string_view entry = take_string(environment);
    const std::size_t equals = std::min(entry.find('='), entry.size());
    const std::string_view key = entry.substr(0, equals);
    const std::string_view value = entry.substr(std::min(entry.size(), equals + 1));
    if (key == "NODE_UNIQUE_ID") {
      marks.cluster_worker = true;
    } else if (key == "NODE_CHANNEL_FD") {
      marks.forked = true;
    } else if (key == "pm_id") {
      marks.pm2_id = value;
    } else if (key == "name") {
      marks.pm2_name = value;
    } else if (key == "pm_exec_path") {
      marks.pm2_script = value;
    } else if (key == "HOSTNAME") {
      marks.host_name = value;
    } else if (key == "pm2_env") {  // cluster mode: everything in one
      marks.pm2_id = json_value(value, "pm_id");
      marks.pm2_name = json_value(value, "name");
      marks.pm2_script = json_value(value, "pm_exec_path");
    }
  }
  if (marks.pm2_id.empty()) {  // "name" is anybody's then
    marks.pm2_name.clear();
    marks.pm2_script.clear();
  }
  return marks;
}

}  // namespace nodescope
