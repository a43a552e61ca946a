#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "app/awaits_report.h"
#include "app/commands/command.h"
#include "app/output.h"
#include "app/progress_line.h"
#include "app/target_options.h"
#include "capture/heap_copy.h"
#include "target/live_process.h"
#include "v8/async_layout.h"
#include "v8/await_chains.h"
#include "v8/metadata.h"
#include "v8/request_ids.h"
#include "v8/value_facts.h"

namespace nodescope {

namespace {

struct Options {
  TargetOptions target;
  std::string output = "-";
  bool json = false;
  std::size_t top = 30;
  std::string request_property;
};

// What lives; where that cannot be told, whatever is there.
v8::AsyncObjects find_objects(const HeapCopy& copy, const v8::HeapImage& image, const v8::Layout& layout,
                              const v8::AsyncLayout& async, Diagnostics& diagnostics) {
  Progress progress;
  const ProgressLine line(progress, "searching the heap");
  const bool is_certain =
      !copy.isolates.empty() && std::ranges::all_of(copy.isolates, [](const v8::Isolate& isolate) {
        return isolate.isolate.value != 0 && !isolate.is_collecting;
      });
  if (!is_certain) {
    diagnostics.warn("async functions that nothing refers to any more may be among them",
                     "the roots of a heap were not found, or it was being collected");
    return v8::find_async_objects(image, layout, async, progress);
  }
  v8::AsyncObjects objects;
  v8::ObjectShapes shapes(image, layout);
  for (const v8::Isolate& isolate : copy.isolates)
    v8::add_live_async_objects(v8::HeapObjects::mark(shapes, isolate), async, objects);
  return objects;
}

// The process stands still only while its heap is copied.
Result<AwaitsReport> read_awaits(pid_t pid, const std::string& request_property) {
  auto copier = HeapCopier::open(pid);
  if (!copier) return std::unexpected(copier.error());
  const auto binary = find_node_binary(copier->process());
  if (!binary) return std::unexpected(binary.error());
  const v8::Layout& layout = copier->layout();
  const auto async = require_async_layout(binary->elf.file(), layout);
  if (!async) return std::unexpected(async.error());
  auto copy = copier->copy();
  if (!copy) return std::unexpected(copy.error());
  AwaitsReport report;
  report.process = fmt::format("Process {}", pid);
  report.pid = pid;
  report.versions = layout.versions;
  report.stopped_ns = copy->stopped_ns;
  LiveMemory memory(pid);
  v8::HeapImage image(copy->pages, memory);
  const v8::AsyncObjects objects = find_objects(*copy, image, layout, *async, report.diagnostics);
  v8::Heap heap(image, layout);
  if (request_property.empty()) {
    report.add(heap, *async, objects, nullptr);
    return report;
  }
  const auto facts = v8::ValueFacts::read(v8::Metadata::read(binary->elf.file()), layout);
  v8::Scripts scripts;
  v8::RequestIds requests(heap, *async, facts, scripts, request_property);
  report.add(heap, *async, objects, &requests);
  return report;
}

Result<void> run_awaits(const Options& options) {
  const auto pid = select_one_target(options.target.spec());
  if (!pid) return std::unexpected(pid.error());
  const auto report = read_awaits(*pid, options.request_property);
  if (!report) return std::unexpected(report.error());
  return write_output(options.output, [&](ByteSink& sink) {
    return options.json ? write_awaits_json(*report, sink) : sink.write(awaits_text(*report, options.top));
  });
}

}  // namespace

void add_awaits_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "awaits",
      "Show what the async functions of a running Node.js process wait for, and who waits for them.");
  command->group("Live");
  add_target_options(*command, options->target, HowMany::kOne);
  command->add_option("-o,--output", options->output, "Where to write; standard output if not given")
      ->type_name("FILE");
  command->add_option("--top", options->top, "How many chains to show; 0 for all")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option(
          "--request-id", options->request_property,
          "Tell requests apart by this property of what an AsyncLocalStorage holds: reads the users' data")
      ->type_name("PROPERTY");
  command->add_flag("--json", options->json, "For programs");
  command->footer(
      "A line for each chain, from the function that waits to its asynchronous callers, with the number of "
      "times that it is there. The process stands still only while its heap is copied; the output says for "
      "how long. Functions that nothing refers to any more are left out.\n"
      "--request-id id shows for which request each waits where the program keeps { id: … }, a Map with it, "
      "or\n"
      "the id itself in an AsyncLocalStorage.\n\n"
      "Examples\n"
      "  nodescope awaits 4711\n"
      "  nodescope awaits server.js --request-id id\n"
      "  nodescope awaits server.js --json");
  command->callback([options, &run] { run = [options] { return run_awaits(*options); }; });
}

}  // namespace nodescope
