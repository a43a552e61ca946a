#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "app/commands/command.h"
#include "app/help.h"
#include "app/note.h"
#include "app/output.h"
#include "app/recorder.h"
#include "app/show_page.h"
#include "app/views.h"
#include "capture/sampling_session.h"
#include "os/process.h"
#include "target/node_processes.h"

namespace nodescope {

// examples/service.js
extern const std::string_view kExampleService;

namespace {

struct Options {
  unsigned seconds = 10;
  std::string name = "nodescope-demo";
  bool no_open = false;
};

constexpr unsigned kSpareSeconds = 60;
constexpr int kStartMilliseconds = 30'000;
constexpr int kStepMilliseconds = 50;
constexpr unsigned kFrequency = 199;
constexpr std::size_t kProcesses = 3;  // the primary and two workers

// The service's own processes: not the one that makes its load.
Result<std::vector<pid_t>> list_service(pid_t primary) {
  const auto below = list_descendants(primary);
  if (!below) return std::unexpected(below.error());
  const auto list = list_node_processes();
  if (!list) return std::unexpected(list.error());
  std::vector<pid_t> pids;
  for (const NodeProcess& process : list->processes) {
    const bool is_service = process.pid == primary || process.role == NodeRole::kClusterWorker;
    if (is_service && std::ranges::binary_search(*below, process.pid)) pids.push_back(process.pid);
  }
  return pids;
}

Result<std::vector<pid_t>> wait_for_service(HeldProgram& service) {
  for (int waited = 0; waited < kStartMilliseconds; waited += kStepMilliseconds) {
    if (const auto code = service.exit_code())
      return fail(ErrorCode::kSystem, fmt::format("the demo's node ended with exit code {}", *code));
    auto pids = list_service(service.pid());
    if (!pids || pids->size() == kProcesses) return pids;
    std::this_thread::sleep_for(std::chrono::milliseconds(kStepMilliseconds));
  }
  return fail(ErrorCode::kSystem, "the sample service did not start");
}

Result<Recorded> record_service(unsigned seconds, const std::string& output) {
  auto folder = TemporaryFolder::create();
  if (!folder) return std::unexpected(folder.error());
  const std::string script = folder->path() + "/service.js";
  auto written = write_output(script, [](ByteSink& sink) { return sink.write(kExampleService); });
  if (!written) return std::unexpected(written.error());
  // It ends by itself, should we not get to that.
  auto service = HeldProgram::start({"node", script, std::to_string(seconds + kSpareSeconds)},
                                    HeldProgram::Output::kDropped);
  if (!service) return std::unexpected(service.error());
  const auto started = service->let_go();
  if (!started && started.error().code == ErrorCode::kNotFound)
    return fail(ErrorCode::kNotFound, "the demo needs node on the PATH; on Debian: apt-get install nodejs");
  if (!started) return std::unexpected(started.error());
  const auto pids = wait_for_service(*service);
  if (!pids) return std::unexpected(pids.error());
  note("Recording a small cluster with load for {} s: processes {}\n", seconds, fmt::join(*pids, ", "));
  // Its script is gone when somebody looks at it.
  SamplingSession session({.frequency_hz = kFrequency, .keep_sources = true, .loops = kRecordingLoops});
  if (auto attached = attach_all(session, *pids); !attached) return std::unexpected(attached.error());
  return record(session, {static_cast<double>(seconds), output}, [&] { return !session.has_targets(); });
}

Result<void> write_view(const Profile& profile, const std::string& path) {
  const auto writer = writer_of_path(path);
  if (!writer) return fail(ErrorCode::kUnsupported, "no writer for " + path);
  return write_as(*writer, profile, {}, path);
}

Result<void> demo(const Options& options) {
  const std::string svg = options.name + ".svg";
  const std::string recording = options.name + ".nscope";
  const auto recorded = record_service(options.seconds, recording);
  if (!recorded) return std::unexpected(recorded.error());
  const Profile& profile = recorded->profile;
  if (auto written = write_view(profile, svg); !written) return written;
  auto shown =
      write_output("-", [&](ByteSink& sink) { return sink.write("\n" + recording_summary(*recorded)); });
  if (!shown) return shown;
  note("\n{}: open it in a browser\n{}: nodescope report {} --my-code\n", svg, recording, recording);
  return end_with_page(recording, !options.no_open);
}

}  // namespace

void add_demo_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("demo",
                                         "Run a sample service for ten seconds, then show where its time "
                                         "went. Writes nodescope-demo.svg and .nscope.");
  command->group("Set up");
  limit(*command->add_option("--seconds", options->seconds, "How long (10)")->type_name("N"), 1, 600);
  command->add_option("--name", options->name, "Where to write, without extension")->type_name("PATH");
  command->add_flag("--no-open", options->no_open,
                    "Do not show the recording in the browser when it is done");
  command->callback([options, &run] { run = [options] { return demo(*options); }; });
}

}  // namespace nodescope
