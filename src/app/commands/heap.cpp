#include "app/commands/heap.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "app/commands/heap_live.h"
#include "app/function_report.h"
#include "app/heap_inputs.h"
#include "app/heap_report.h"
#include "app/output.h"
#include "base/text.h"
#include "os/terminal.h"

namespace nodescope {

namespace {

struct Options {
  std::vector<std::string> inputs;
  std::string input = "-";
  std::string output = "-";
  std::string what;  // a class, an id
  HeapReportOptions report;

  HeapReportOptions fitted() const {
    HeapReportOptions fitted = report;
    if (output == "-" && standard_output_is_terminal()) fitted.columns = terminal_columns();
    return fitted;
  }
};

using Write = std::function<Result<void>(const HeapAnalysis&, const Options&, ByteSink&)>;

Result<void> report(const Options& options, const Write& write) {
  const auto graph = read_heap_input(options.input);
  if (!graph) return std::unexpected(graph.error());
  const HeapAnalysis heap(*graph);
  return write_output(options.output, [&](ByteSink& sink) { return write(heap, options, sink); });
}

Result<void> report_retainers(const HeapAnalysis& heap, const Options& options, ByteSink& sink) {
  const std::string_view text = options.what;
  const auto id = parse_number<std::uint64_t>(text.starts_with('@') ? text.substr(1) : text);
  if (!id) return fail(ErrorCode::kUsage, fmt::format("{}: not the id of an object, as in @4711", text));
  return write_heap_retainers(heap, *id, options.fitted(), sink);
}

Result<void> report_diff(const Options& options) {
  const auto snapshots = read_heap_snapshots(options.inputs);
  if (!snapshots) return std::unexpected(snapshots.error());
  const HeapAnalysis& heap = *snapshots->heap;
  const HeapDiff diff = derive_heap_diff(snapshots->older.front(), heap);
  const LeakAnswer answer = find_leak(snapshots->older, diff, heap, derive_reach(heap.graph()));
  return write_output(options.output,
                      [&](ByteSink& sink) { return write_heap_diff(diff, answer, options.fitted(), sink); });
}

void add_output_options(CLI::App& command, Options& options) {
  command.add_option("-o,--output", options.output, "Where to write; standard output if not given")
      ->type_name("FILE");
  command.add_option("--top", options.report.top, "How many rows (30); 0 for all")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N");
  command.add_flag("--json", options.report.json, "For programs: every row");
}

struct Command {
  const char* name;
  const char* description;
  const char* footer;
  Write write;
  const char* what = nullptr;  // the name of an argument before the file
  const char* what_is = nullptr;
};

void add_command(CLI::App& heap, Run& run, const Command& about) {
  auto options = std::make_shared<Options>();
  CLI::App* command = heap.add_subcommand(about.name, about.description);
  command->group("Read");
  if (about.what != nullptr) command->add_option(about.what, options->what, about.what_is)->required();
  command->add_option("FILE", options->input, "A .heapsnapshot; - or nothing for standard input");
  add_output_options(*command, *options);
  command->footer(about.footer);
  command->callback(
      [options, &run, write = about.write] { run = [options, write] { return report(*options, write); }; });
}

void add_diff_part(CLI::App& heap, Run& run) {
  auto options = std::make_shared<Options>();
  CLI::App* command = heap.add_subcommand(
      "diff", "Say what leaks between two or more heap snapshots, and compare them class by class.");
  command->group("Read");
  command->add_option("FILE", options->inputs, "Snapshots of one process, the oldest first")
      ->required()
      ->expected(2, 100);
  add_output_options(*command, *options);
  command->footer("Example\n  nodescope heap diff before.heapsnapshot after.heapsnapshot");
  command->callback([options, &run] { run = [options] { return report_diff(*options); }; });
}

}  // namespace

void add_heap_command(CLI::App& app, Run& run) {
  CLI::App* heap =
      app.add_subcommand("heap", "Show which objects fill the memory, who holds them, and what leaks.");
  heap->group("Look");
  heap->require_subcommand(1);
  add_heap_leak_command(*heap, run);
  add_heap_take_command(*heap, run);
  add_heap_watch_command(*heap, run);
  add_diff_part(*heap, run);
  const auto with = [](auto write) {
    return [write](const HeapAnalysis& analysis, const Options& options, ByteSink& sink) {
      return write(analysis, options.fitted(), sink);
    };
  };
  add_command(*heap, run,
              {"summary", "List the classes of a heap snapshot, with what they retain.",
               "Example\n  nodescope heap summary app.heapsnapshot", with(write_heap_summary)});
  add_command(*heap, run,
              {"dominators", "Show the objects that keep the most memory alive, as a tree.",
               "Example\n  nodescope heap dominators app.heapsnapshot", with(write_heap_dominators)});
  add_command(*heap, run,
              {"strings", "List the texts that are in memory more than once.",
               "Example\n  nodescope heap strings app.heapsnapshot", with(write_heap_strings)});
  add_command(*heap, run,
              {"closures", "List the variables that functions keep alive, with what they retain.",
               "Example\n  nodescope heap closures app.heapsnapshot", with(write_heap_closures)});
  add_command(*heap, run,
              {"allocations",
               "List the functions that allocated what is in memory, of a snapshot that was taken while "
               "allocations were tracked.",
               "Example\n  nodescope heap allocations app.heaptimeline", with(write_heap_allocations)});
  add_command(*heap, run,
              {"retainers", "Show what refers to an object, and how a root reaches it.",
               "Example\n  nodescope heap retainers @4711 app.heapsnapshot", report_retainers, "NODE",
               "The id of an object, as the other commands print it"});
  add_command(*heap, run,
              {"objects", "List the objects of a class, with where each is held.",
               "Example\n  nodescope heap objects Order app.heapsnapshot",
               [](const HeapAnalysis& analysis, const Options& options, ByteSink& sink) {
                 return write_heap_objects(analysis, options.what, options.fitted(), sink);
               },
               "CLASS", "As the summary names it; * for every object"});
  heap->footer(
      "Examples\n"
      "  nodescope heap leak 4711\n"
      "  nodescope heap take 4711 -o app.heapsnapshot\n"
      "  nodescope heap summary app.heapsnapshot\n"
      "  nodescope heap diff before.heapsnapshot after.heapsnapshot");
}

}  // namespace nodescope
