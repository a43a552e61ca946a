#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>

#include "app/commands/command.h"
#include "app/help.h"
#include "app/input.h"
#include "app/inspector_recorder.h"
#include "app/note.h"
#include "app/output.h"
#include "app/recorder.h"
#include "app/show_page.h"
#include "app/target_options.h"
#include "base/text.h"
#include "capture/sampling_session.h"
#include "os/process.h"
#include "target/command_binary.h"

namespace nodescope {

namespace {

constexpr unsigned kMaxFrequency = 10'000;
constexpr double kDefaultSeconds = 30;
constexpr double kMaxSeconds = 365 * 86'400.0;

struct Options {
  TargetOptions targets;
  std::optional<double> seconds;
  unsigned frequency = 99;
  bool children = false;
  bool sources = false;
  bool off_cpu = false;
  bool wall = false;
  bool async = false;
  bool no_open = false;
  std::string output;
  std::string engine = "auto";
  std::string url;
  bool allocations = false;
  bool coverage = false;
  SourceMapOptions maps;

  bool wants_inspector() const { return engine == "inspector" || allocations || coverage || !url.empty(); }
};

std::string default_output() {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const std::chrono::hh_mm_ss time(now - std::chrono::floor<std::chrono::days>(now));
  const std::chrono::year_month_day day(std::chrono::floor<std::chrono::days>(now));
  return fmt::format("nodescope-{:04}{:02}{:02}-{:02}{:02}{:02}.nscope", static_cast<int>(day.year()),
                     static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()),
                     time.hours().count(), time.minutes().count(), time.seconds().count());
}

Result<void> show(const Recorded& recorded, const std::string& output, bool opens_browser) {
  const Profile& profile = recorded.profile;
  print_diagnostics(profile.diagnostics, output);
  const std::string text = recording_summary(recorded) + course_text(recorded.course);
  // Standard output belongs to the command that was recorded.
  note("{}", text);
  if (output.ends_with(".nscope")) return end_with_page(output, opens_browser);
  note("\n{}\n", output);
  return {};
}

SamplingOptions sampling_options(const Options& options) {
  const SampledTime time = options.wall      ? SampledTime::kBoth
                           : options.off_cpu ? SampledTime::kOffCpu
                                             : SampledTime::kOnCpu;
  return {options.frequency, options.children, options.sources, kRecordingLoops, time, options.async};
}

Result<Recorded> record_by_stops(const Options& options, const std::vector<pid_t>& pids,
                                 const std::string& output) {
  SamplingOptions sampling = sampling_options(options);
  sampling.by_stops = true;
  sampling.frequency_hz = kStopsFrequency;
  SamplingSession session(sampling);
  if (auto attached = attach_all(session, pids); !attached) return std::unexpected(attached.error());
  note("nodescope: stops {} times a second, for less than a millisecond each, while a thread runs\n",
       kStopsFrequency);
  return record(session, {options.seconds.value_or(kDefaultSeconds), output, options.sources, options.maps},
                [&] { return !session.has_targets(); });
}

Result<Recorded> record_processes(const Options& options, const std::vector<pid_t>& pids,
                                  const std::string& output) {
  SamplingSession session(sampling_options(options));
  if (auto attached = attach_all(session, pids); !attached) return std::unexpected(attached.error());
  return record(session, {options.seconds.value_or(kDefaultSeconds), output, options.sources, options.maps},
                [&] { return !session.has_targets(); });
}

// A command is recorded until it ends, with all processes that it starts: `npm start` is not Node.js itself.
// Processes that are given beside it are recorded for as long.
Result<Recorded> record_command(const Options& options, RecordedCommand& command, const std::string& output) {
  std::vector<pid_t> pids;
  if (!options.targets.spec().empty()) {
    auto selected = select_targets(options.targets.spec());
    if (!selected) return std::unexpected(selected.error());
    pids = std::move(*selected);
  }
  auto program = HeldProgram::start(command.arguments);
  if (!program) return std::unexpected(program.error());
  SamplingSession session(sampling_options(options));
  if (const auto binary = find_binary_of_command(command.arguments)) session.prepare_binary(*binary);
  if (auto attached = attach_all(session, pids); !attached) return std::unexpected(attached.error());
  if (auto attached = session.attach_before_exec(program->pid()); !attached)
    return std::unexpected(attached.error());
  if (auto started = program->let_go(); !started) {
    // As a shell says it: not found, and found but not to be run.
    command.exit_code = started.error().code == ErrorCode::kNotFound ? 127 : 126;
    return std::unexpected(started.error());
  }
  auto recorded = record(session, {options.seconds, output, options.sources, options.maps},
                         [&] { return program->exit_code().has_value(); });
  // That it was ended by Ctrl-C or by us is no failure.
  const bool interrupted = recorded && recorded->course.end == RecordingEnd::kInterrupted;
  if (!interrupted) command.exit_code = program->exit_code().value_or(0);
  program->end();
  return recorded;
}

void warn_about_sources(const Options& options, const std::string& output) {
  if (!options.sources || output.ends_with(".nscope") || output.ends_with(".html")) return;
  note("nodescope: --sources does nothing here: {} has no room for them; .nscope and .html have\n",
       printable(output));
}

Result<InspectorRecording> inspector_recording(const Options& options, std::vector<pid_t> pids,
                                               const std::string& output) {
  InspectorRecording wanted;
  wanted.options.profile = options.allocations ? InspectorProfile::kAllocations : InspectorProfile::kCpu;
  wanted.options.frequency_hz = options.frequency;
  // Most processes would open theirs on the same port.
  if (pids.size() > 1) wanted.options.port = InspectorPort::kAnyFree;
  wanted.pids = std::move(pids);
  wanted.seconds = options.seconds.value_or(kDefaultSeconds);
  wanted.output = output;
  wanted.maps = options.maps;
  if (!options.url.empty()) {
    auto address = parse_inspector_url(options.url);
    if (!address) return std::unexpected(address.error());
    wanted.address = std::move(*address);
  }
  return wanted;
}

Result<Recorded> record_inspected(const Options& options, std::vector<pid_t> pids,
                                  const std::string& output) {
  auto wanted = inspector_recording(options, std::move(pids), output);
  if (!wanted) return std::unexpected(wanted.error());
  return record_by_inspector(std::move(*wanted));
}

Result<std::vector<pid_t>> chosen_processes(const Options& options) {
  if (!options.url.empty()) return std::vector<pid_t>();
  return select_targets(options.targets.spec());
}

Result<void> run_coverage(const Options& options) {
  const std::string output = options.output.empty() ? "-" : options.output;
  if (auto possible = check_output(output); !possible) return possible;
  auto pids = chosen_processes(options);
  if (!pids) return std::unexpected(pids.error());
  auto wanted = inspector_recording(options, std::move(*pids), output);
  if (!wanted) return std::unexpected(wanted.error());
  return record_coverage(std::move(*wanted));
}

Result<void> check_inspector_options(const Options& options, bool has_command) {
  if (has_command)
    return fail(ErrorCode::kUsage, "the inspector engine records running processes, not a command after --");
  if (options.engine == "sampling" || options.engine == "stops")
    return fail(ErrorCode::kUsage, "--alloc, --coverage and --url need the inspector engine");
  if (options.off_cpu || options.wall)
    return fail(ErrorCode::kUsage,
                "--off-cpu and --wall need the kernel's samples, which the inspector engine does not take");
  if (!options.url.empty() && !options.targets.spec().empty())
    return fail(ErrorCode::kUsage, "--url stands for the process: give one or the other");
  return {};
}

// Where the kernel refuses to sample, V8's own profiler may still be had.
Result<Recorded> record_running(const Options& options, const std::string& output) {
  auto pids = chosen_processes(options);
  if (!pids) return std::unexpected(pids.error());
  if (options.wants_inspector()) return record_inspected(options, std::move(*pids), output);
  if (options.engine == "stops") return record_by_stops(options, *pids, output);
  auto recorded = record_processes(options, *pids, output);
  const bool has_another_way = options.engine == "auto" && !options.off_cpu && !options.wall;
  if (recorded || !is_refused(recorded.error()) || !has_another_way) return recorded;
  note("nodescope: {}\nnodescope: recording by V8's inspector instead (--engine sampling refuses that)\n",
       recorded.error().message);
  auto inspected = record_inspected(options, *pids, output);
  if (inspected) return inspected;
  note("nodescope: {}\nnodescope: recording by short stops instead\n", inspected.error().message);
  return record_by_stops(options, *pids, output);
}

Result<void> run_record(const Options& options, RecordedCommand& command) {
  const std::string output = options.output.empty() ? default_output() : options.output;
  const bool has_command = !command.arguments.empty();
  if (options.engine == "stops" && (has_command || options.off_cpu || options.wall || options.children))
    return fail(ErrorCode::kUsage,
                "--engine stops samples what running processes do on a CPU, and nothing else");
  if (options.wants_inspector()) {
    if (auto checked = check_inspector_options(options, has_command); !checked) return checked;
  }
  if (!has_command && options.targets.spec().empty() && options.url.empty())
    return fail(ErrorCode::kUsage, "nothing to record: give a process, or a command after --");
  tell_left_open();
  if (options.coverage) return run_coverage(options);
  // Before anything is recorded: a name that cannot be written would lose it all.
  if (const auto writer = writer_of_recording(output); !writer) return std::unexpected(writer.error());
  if (auto possible = check_output(output); !possible) return possible;
  warn_about_sources(options, output);
  const auto recorded =
      has_command ? record_command(options, command, output) : record_running(options, output);
  if (!recorded) return std::unexpected(recorded.error());
  return show(*recorded, output, !options.no_open);
}

}  // namespace

void add_record_command(CLI::App& app, Run& run, RecordedCommand& program) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "record", "Sample running processes and write a recording: JavaScript, native and kernel frames.");
  command->group("Live");
  add_target_options(*command, options->targets, HowMany::kMany);
  limit(*command->add_option("-d,--duration", options->seconds, "Seconds (30; a command: until it ends)")
             ->type_name("SECONDS"),
        0.1, kMaxSeconds);
  limit(*command->add_option("-F,--freq", options->frequency, "Samples per second and thread (99)")
             ->type_name("HZ"),
        1, kMaxFrequency);
  command->add_flag("--children", options->children, "Also processes that are started from now on");
  command->add_flag("--async", options->async,
                    "Asynchronous callers (async handler) in place of what runs microtasks");
  command->add_flag(
      "--sources", options->sources,
      "Keep the texts of JavaScript files and their source maps in the recording (.nscope, .html)");
  add_source_map_options(*command, options->maps);
  CLI::Option* off_cpu =
      command->add_flag("--off-cpu", options->off_cpu,
                        "Waiting instead of running: where threads are on no CPU, for how long and what for");
  command->add_flag("--wall", options->wall, "Running and waiting together")->excludes(off_cpu);
  command
      ->add_option(
          "--engine", options->engine,
          "sampling: the kernel's samples; inspector: V8's own profiler, through the inspector, which is\n"
          "opened by SIGUSR1 and closed again; stops: the process stands still for a moment ten times a\n"
          "second; auto: sampling, and where the kernel refuses it the inspector, else stops")
      ->type_name("ENGINE")
      ->check(CLI::IsMember({"auto", "sampling", "inspector", "stops"}));
  CLI::Option* allocations = command->add_flag(
      "--alloc", options->allocations,
      "What allocated the memory that is still alive at the end, by V8's sampling heap profiler");
  command
      ->add_flag("--coverage", options->coverage,
                 "Which functions ran, and how often: a report instead of a recording (-o FILE.json)")
      ->excludes(allocations);
  command
      ->add_option("--url", options->url,
                   "An inspector by its address, also on another machine (ws://HOST:PORT/ID)")
      ->type_name("URL");
  command
      ->add_option("-o,--output", options->output,
                   "Where to write, by its ending in any format (nodescope-DATE-TIME.nscope)")
      ->type_name("FILE");
  command->add_flag("--no-open", options->no_open,
                    "Do not show the recording in the browser when it is done");
  command->footer(
      "What follows -- is a command to start and to record, with its children, until it ends; processes "
      "that\n"
      "are given too are recorded for as long. Its exit code is then that of nodescope (128 + signal if one\n"
      "ended it; 127 if there is no such command; 0 when Ctrl-C or -d ended it). Standard output is its\n"
      "own: what nodescope has to say goes to standard error.\n"
      "The processes are not stopped, changed or restarted. Ctrl-C ends the recording and writes it.\n\n"
      "Examples\n"
      "  nodescope record 4711\n"
      "  nodescope record 4711 -d 10 -F 999 -o slow.svg\n"
      "  nodescope record --tree 4711             a cluster with all its workers\n"
      "  nodescope record server.js               by its script\n"
      "  nodescope record -- node app.js\n"
      "  nodescope record -p 4711 -- sleep 10     as with perf\n"
      "  nodescope record 4711 --alloc            what allocates, by V8's own profiler\n"
      "  nodescope record 4711 --coverage -d 10   which functions run at all");
  command->callback(
      [options, &run, &program] { run = [options, &program] { return run_record(*options, program); }; });
}

}  // namespace nodescope
