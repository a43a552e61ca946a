#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iterator>
#include <memory>

#include "app/commands/command.h"
#include "app/output.h"
#include "base/text.h"
#include "json/writer.h"
#include "os/terminal.h"
#include "target/node_processes.h"

namespace nodescope {

namespace {

struct Options {
  bool json = false;
  bool all = false;
};

constexpr std::size_t kShortIdDigits = 12;  // as docker and podman cut them
constexpr std::size_t kIdDigits = 64;

// "3d 4h", "2h 05m", "12m 30s".
std::string uptime_text(std::uint64_t nanoseconds) {
  const std::uint64_t seconds = nanoseconds / 1'000'000'000;
  const std::uint64_t minutes = seconds / 60;
  const std::uint64_t hours = minutes / 60;
  if (hours >= 24) return fmt::format("{}d {}h", hours / 24, hours % 24);
  if (hours > 0) return fmt::format("{}h {:02}m", hours, minutes % 60);
  return minutes > 0 ? fmt::format("{}m {:02}s", minutes, seconds % 60) : fmt::format("{}s", seconds);
}

// In hundredths of a percent of one core, since the process started.
std::uint64_t cpu_hundredths(const NodeProcess& process) {
  if (process.uptime_ns == 0) return 0;
  return static_cast<std::uint64_t>(static_cast<double>(process.cpu_ns) * 10'000.0 /
                                    static_cast<double>(process.uptime_ns));
}

std::string container_text(const NodeProcess& process) {
  std::string id = process.container;
  if (id.size() == kIdDigits) id.resize(kShortIdDigits);
  if (process.container_name.empty() || process.container_name == id) return id;
  return id + " " + process.container_name;
}

constexpr std::size_t kColumns = 11;
using Row = std::array<std::string, kColumns>;
const Row kTitles = {"PID", "NSPID", "NODE", "PARENT",    "ROLE",  "THREADS",
                     "CPU", "RSS",   "UP",   "CONTAINER", "SCRIPT"};
constexpr std::array<bool, kColumns> kToTheRight = {true, true, false, true,  false, true,
                                                    true, true, true,  false, false};

Row row_of(const NodeProcess& process) {
  const std::uint64_t cpu = cpu_hundredths(process);
  std::string label = process.label();
  if (!process.marks.pm2_name.empty()) label += " (" + process.marks.pm2_name + ")";
  return {fmt::format("{}", process.pid),
          fmt::format("{}", process.innermost_pid),
          process.node.empty() ? "?" : process.node,
          fmt::format("{}", process.parent),
          std::string(to_string(process.role)),
          fmt::format("{}", process.threads),
          fmt::format("{}.{} %", cpu / 100, cpu / 10 % 10),
          human_bytes(process.resident_bytes),
          uptime_text(process.uptime_ns),
          printable(container_text(process)),
          printable(label)};
}

std::string table_text(const std::vector<Row>& rows) {
  std::array<std::size_t, kColumns> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  // Most machines have no containers.
  const bool has_containers = std::ranges::any_of(rows.begin() + 1, rows.end(),
                                                  [](const Row& row) { return !row[kColumns - 2].empty(); });
  std::string text;
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < kColumns; ++i) {
      if (i == kColumns - 2 && !has_containers) continue;
      if (i > 0) line += "  ";
      line += kToTheRight[i] ? fmt::format("{:>{}}", row[i], widths[i])
                             : fmt::format("{:<{}}", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string list_text(const NodeProcessList& list) {
  std::vector<Row> rows{kTitles};
  for (const NodeProcess& process : list.processes) rows.push_back(row_of(process));
  std::string text = rows.size() > 1 ? table_text(rows) : "No Node.js process was found.\n";
  if (list.unreadable > 0) {
    const auto shown = std::ranges::count(list.processes, false, &NodeProcess::readable);
    text += fmt::format("\nCould not be looked at: {} ({} of them shown, by name only, with \"?\"): {}.\n",
                        list.unreadable, shown, why_not_looked_at(read_privileges()));
  }
  return text;
}

void write_process(json::Writer& json, const NodeProcess& process) {
  const auto text = [&](std::string_view key, std::string_view value) {
    json.key(key);
    value.empty() ? json.null() : json.string(value);
  };
  json.line().begin_object();
  json.key("pid").integer(process.pid);
  json.key("nspid").integer(process.innermost_pid);
  text("container", process.container);
  text("container_name", process.container_name);
  text("pod", process.pod);
  text("node", process.node);
  text("script", process.invocation.script);
  text("title", process.invocation.title);
  json.key("role").string(to_string(process.role));
  text("pm2_name", process.marks.pm2_name);
  json.key("parent").integer(process.parent);
  json.key("threads").count(process.threads);
  json.key("cpu_ms").count(process.cpu_ns / 1'000'000);
  json.key("cpu_percent").decimal(static_cast<std::int64_t>(cpu_hundredths(process)), 2);
  json.key("rss_bytes").count(process.resident_bytes);
  json.key("uptime_ms").count(process.uptime_ns / 1'000'000);
  json.key("readable").boolean(process.readable);
  json.end_object();
}

Result<void> write_json(const NodeProcessList& list, ByteSink& sink) {
  json::Writer json(sink);
  json.begin_array();
  for (const NodeProcess& process : list.processes) write_process(json, process);
  json.end_array();
  return json.finish();
}

Result<void> run_ps(const Options& options) {
  const auto list = list_node_processes(options.all ? Unreadable::kAll : Unreadable::kOnlyIfNamedNode);
  if (!list) return std::unexpected(list.error());
  return write_output("-", [&](ByteSink& sink) {
    return options.json ? write_json(*list, sink) : sink.write(list_text(*list));
  });
}

}  // namespace

void add_ps_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("ps", "List the Node.js processes of this machine.");
  command->group("Live");
  command->add_flag("--json", options->json, "For programs: an array with an object per process");
  command->add_flag("-a,--all", options->all,
                    "Also every process that may not be looked at and so cannot be told from Node.js");
  command->footer(
      "Node.js is recognised by what is in the program or its libraries, whatever their names are.\n"
      "NSPID is the pid inside of the container; CPU is the average since the start.\n\n"
      "Examples\n"
      "  nodescope ps\n"
      "  nodescope ps --json | jq '.[] | select(.role == \"cluster worker\") | .pid'");
  command->callback([options, &run] { run = [options] { return run_ps(*options); }; });
}

}  // namespace nodescope
