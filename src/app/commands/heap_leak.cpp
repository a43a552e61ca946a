#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "analysis/heap/heap_analysis.h"
#include "analysis/heap/heap_diff.h"
#include "analysis/heap/leak.h"
#include "app/commands/heap_live.h"
#include "app/heap_report.h"
#include "app/input.h"
#include "app/note.h"
#include "app/output.h"
#include "app/selection_options.h"
#include "app/target_options.h"
#include "base/text.h"
#include "capture/heap_take.h"
#include "os/interrupt.h"
#include "os/terminal.h"

namespace nodescope {

namespace {

struct Options {
  TargetOptions target;
  std::string output = "-";
  std::string every = "60s";
  unsigned times = 3;
  std::int32_t thread = 0;  // 0: the main thread
  HeapReportOptions report;
};

Result<std::size_t> chosen_isolate(const HeapTake& take, pid_t pid, const Options& options) {
  const pid_t tid = options.thread == 0 ? pid : options.thread;
  const auto found = std::ranges::find(take.isolates(), tid, &HeapTake::IsolateInfo::tid);
  if (found != take.isolates().end()) return static_cast<std::size_t>(found - take.isolates().begin());
  if (options.thread == 0) return std::size_t{0};
  return fail(ErrorCode::kUsage, fmt::format("no JavaScript runs in thread {}", options.thread));
}

// As many as there were until the user has seen enough.
Result<std::vector<HeapGraph>> take_several(pid_t pid, std::int64_t every_ns, const Options& options) {
  auto copier = HeapCopier::open(pid);
  if (!copier) return std::unexpected(copier.error());
  std::vector<HeapGraph> graphs;
  const InterruptRequest interrupt;
  while (graphs.size() < options.times) {
    if (!graphs.empty()) interrupt.sleep_ms(static_cast<int>(every_ns / 1'000'000));
    if (interrupt.requested() && graphs.size() >= 2) break;
    if (interrupt.requested())
      return fail(ErrorCode::kSystem, "interrupted before there were two heaps to compare");
    auto take = HeapTake::take(*copier);
    if (!take && graphs.size() >= 2) break;
    if (!take) return std::unexpected(take.error());
    const auto isolate = chosen_isolate(*take, pid, options);
    if (!isolate) return std::unexpected(isolate.error());
    auto graph = take->graph(*isolate, {});
    if (!graph) return std::unexpected(graph.error());
    note("heap {} of {}: {} objects, stopped for {}\n", graphs.size() + 1, options.times,
         with_thousands(graph->node_count()), human_duration_ns(take->stopped_ns()));
    print_diagnostics(graph->diagnostics, fmt::format("heap {}", graphs.size() + 1));
    graphs.push_back(std::move(*graph));
  }
  return graphs;
}

Result<void> run_leak(const Options& options) {
  const auto every_ns = parse_duration_ns(options.every);
  constexpr std::int64_t kLongestNs = std::int64_t{86'400} * 1'000'000'000;
  if (!every_ns || *every_ns <= 0 || *every_ns > kLongestNs)
    return fail(ErrorCode::kUsage, options.every + ": not a time such as 60s, 500ms or 2m");
  const auto pid = select_one_target(options.target.spec());
  if (!pid) return std::unexpected(pid.error());
  const auto graphs = take_several(*pid, *every_ns, options);
  if (!graphs) return std::unexpected(graphs.error());
  const HeapAnalysis newest(graphs->back());
  std::vector<HeapBaseline> older;
  for (std::size_t i = 0; i + 1 < graphs->size(); ++i)
    older.emplace_back(HeapAnalysis((*graphs)[i]), newest.interfaces());
  const HeapDiff diff = derive_heap_diff(older.front(), newest);
  const LeakAnswer answer = find_leak(older, diff, newest, derive_reach(newest.graph()));
  HeapReportOptions report = options.report;
  if (options.output == "-" && standard_output_is_terminal()) report.columns = terminal_columns();
  return write_output(options.output,
                      [&](ByteSink& sink) { return write_heap_diff(diff, answer, report, sink); });
}

}  // namespace

void add_heap_leak_command(CLI::App& heap, Run& run) {
  auto options = std::make_shared<Options>();
  CLI::App* command = heap.add_subcommand(
      "leak", "Watch the heap of a running Node.js process for some minutes, and say what leaks.");
  command->group("Live");
  add_target_options(*command, options->target, HowMany::kOne);
  command->add_option("--every", options->every, "How far apart (60s)")->type_name("TIME");
  command->add_option("--times", options->times, "How many heaps are compared (3)")
      ->check(CLI::Range(2, 20))
      ->type_name("N");
  command
      ->add_option("--thread", options->thread, "The thread whose heap it is; the main thread if not given")
      ->check(CLI::PositiveNumber)
      ->type_name("TID");
  command->add_option("-o,--output", options->output, "Where to write; standard output if not given")
      ->type_name("FILE");
  command->add_option("--top", options->report.top, "How many rows (30); 0 for all")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  command->add_flag("--json", options->report.json, "For programs: every row");
  command->footer(
      "Takes the heap several times from outside and compares; the process is stopped for each copy, about a "
      "quarter of a second per GB.  Ctrl-C compares what is there.\n\n"
      "Examples\n"
      "  nodescope heap leak 4711\n"
      "  nodescope heap leak server.js --every 5m --times 3");
  command->callback([options, &run] { run = [options] { return run_leak(*options); }; });
}

}  // namespace nodescope
