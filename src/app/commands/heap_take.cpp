#include "capture/heap_take.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/commands/heap_live.h"
#include "app/heap_files.h"
#include "app/output.h"
#include "app/progress_line.h"
#include "app/target_options.h"
#include "base/text.h"
#include "capture/inspector_snapshot.h"
#include "json/writer.h"
#include "os/interrupt.h"
#include "target/live_process.h"

namespace nodescope {

namespace {

struct Options {
  TargetOptions target;
  std::string output;
  std::int32_t thread = 0;  // 0: all
  bool redact = false;
  bool json = false;
  std::string engine = "outside";
};

Result<std::vector<std::size_t>> chosen_isolates(const HeapTake& take, const Options& options) {
  std::vector<std::size_t> chosen;
  std::string known;
  for (std::size_t i = 0; i < take.isolates().size(); ++i) {
    const pid_t tid = take.isolates()[i].tid;
    if (options.thread == 0 || tid == options.thread) chosen.push_back(i);
    known += fmt::format("{}{}", known.empty() ? "" : ", ", tid);
  }
  if (chosen.empty())
    return fail(ErrorCode::kUsage,
                fmt::format("no JavaScript runs in thread {}: it does in {}", options.thread, known));
  if (chosen.size() > 1 && options.output == "-")
    return fail(ErrorCode::kUsage, fmt::format("choose one of the heaps with --thread: {}", known));
  return chosen;
}

Result<void> write_json(const HeapTake& take, const std::vector<HeapFile>& all, ByteSink& sink) {
  json::Writer json(sink);
  json.begin_object();
  json.key("file").string(all.front().file);
  json.key("engine").string("outside");
  json.key("stopped_ms").decimal(static_cast<std::int64_t>(take.stopped_ns() / 1000), 3);
  json.key("heap_bytes").count(take.heap_bytes());
  write_heap_files(json, all);
  json.end_object();
  return json.finish();
}

std::string text_of(const HeapTake& take, const std::vector<HeapFile>& all) {
  return fmt::format("stopped for {} to copy {}\n", human_duration_ns(take.stopped_ns()),
                     human_bytes(take.heap_bytes())) +
         heap_files_text(all);
}

std::string text_of(const InspectorSnapshot& snapshot, const std::string& path) {
  std::string text =
      fmt::format("{}: {}, by V8 itself; its main thread did nothing else for {:.1f} s\n", printable(path),
                  human_bytes(snapshot.bytes), static_cast<double>(snapshot.taking.count()) / 1000);
  if (snapshot.opened) {
    text += fmt::format("its inspector was open on {} for {:.1f} s and is closed again\n", snapshot.address,
                        static_cast<double>(snapshot.open_time.count()) / 1000);
  }
  return text;
}

Result<void> write_json(const InspectorSnapshot& snapshot, const std::string& path, ByteSink& sink) {
  json::Writer json(sink);
  json.begin_object();
  json.key("file").string(path);
  json.key("engine").string("inspector");
  json.key("stopped_ms").count(static_cast<std::uint64_t>(snapshot.taking.count()));
  json.key("file_bytes").count(snapshot.bytes);
  json.key("opened").boolean(snapshot.opened);
  json.key("open_ms").count(static_cast<std::uint64_t>(snapshot.open_time.count()));
  json.end_object();
  return json.finish();
}

Result<void> take_by_inspector(const Options& options, pid_t pid, const std::string& path) {
  if (options.redact || options.thread != 0)
    return fail(ErrorCode::kUsage, "--redact and --thread need the engine outside: V8 offers neither");
  const InterruptRequest interrupt;
  Progress progress;
  InspectorSnapshot snapshot;
  {
    const ProgressLine line(progress, fmt::format("the heap of process {}", pid));
    const auto done = write_output(
        path,
        [&](ByteSink& sink) -> Result<void> {
          auto taken = take_snapshot_by_inspector(pid, sink, progress, [&] { return interrupt.requested(); });
          if (!taken) return std::unexpected(taken.error());
          snapshot = std::move(*taken);
          return {};
        },
        Readers::kOwner);
    if (!done) return done;
  }
  if (options.output == "-") return {};
  return write_output("-", [&](ByteSink& sink) {
    return options.json ? write_json(snapshot, path, sink) : sink.write(text_of(snapshot, path));
  });
}

Result<void> run_take(const Options& options) {
  const auto pid = select_one_target(options.target.spec());
  if (!pid) return std::unexpected(pid.error());
  const std::string path =
      options.output.empty() ? fmt::format("heap-{}.heapsnapshot", *pid) : options.output;
  if (options.engine == "inspector") return take_by_inspector(options, *pid, path);
  auto copier = HeapCopier::open(*pid);
  if (!copier) return std::unexpected(copier.error());
  auto take = HeapTake::take(*copier);
  if (!take) return std::unexpected(take.error());
  const auto chosen = chosen_isolates(*take, options);
  if (!chosen) return std::unexpected(chosen.error());
  std::vector<HeapFile> all;
  for (const std::size_t isolate : *chosen) {
    const pid_t tid = take->isolates()[isolate].tid;
    const bool is_first = isolate == chosen->front();
    const auto graph = take->graph(isolate, {options.redact});
    if (!graph) return std::unexpected(graph.error());
    const std::string suffix = fmt::format("{}", tid != 0 ? tid : static_cast<pid_t>(isolate));
    auto written =
        write_heap_file(*graph, tid, thread_name(*pid, tid), is_first ? path : with_suffix(path, suffix));
    if (!written) return std::unexpected(written.error());
    all.push_back(std::move(*written));
  }
  if (options.output == "-") return {};
  return write_output("-", [&](ByteSink& sink) {
    return options.json ? write_json(*take, all, sink) : sink.write(text_of(*take, all));
  });
}

}  // namespace

void add_heap_take_command(CLI::App& heap, Run& run) {
  auto options = std::make_shared<Options>();
  CLI::App* command = heap.add_subcommand(
      "take", "Write the heap of a running Node.js process as a .heapsnapshot, from outside.");
  command->group("Live");
  add_target_options(*command, options->target, HowMany::kOne);
  command
      ->add_option(
          "-o,--output", options->output,
          "Where to write (heap-PID.heapsnapshot); workers' heaps get the thread's number into the name")
      ->type_name("FILE");
  command->add_option("--thread", options->thread, "Only the heap of this thread; all if not given")
      ->check(CLI::PositiveNumber)
      ->type_name("TID");
  command->add_flag("--redact", options->redact,
                    "Leave out what strings say, and keys of objects used as maps; sizes and structure stay");
  command
      ->add_option("--engine", options->engine,
                   "outside: the heap is copied from outside; inspector: V8 writes its own snapshot of the\n"
                   "main thread's heap, which takes the process much time and memory")
      ->type_name("ENGINE")
      ->check(CLI::IsMember({"outside", "inspector"}));
  command->add_flag("--json", options->json, "For programs");
  command->footer(
      "The process is stopped while its heap is copied, about a quarter of a second per GB, and needs no "
      "memory "
      "for it; objects that a full collection would free are left out.\n\n"
      "Examples\n"
      "  nodescope heap take 4711 -o before.heapsnapshot\n"
      "  nodescope heap take server.js --redact");
  command->callback([options, &run] { run = [options] { return run_take(*options); }; });
}

}  // namespace nodescope
