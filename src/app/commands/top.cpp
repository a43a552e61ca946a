#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>

#include "app/commands/command.h"
#include "app/help.h"
#include "app/loop_report.h"
#include "app/note.h"
#include "app/output.h"
#include "app/recorder.h"
#include "app/target_options.h"
#include "app/top_sources.h"
#include "app/top_view.h"
#include "capture/sampling_session.h"
#include "os/interrupt.h"
#include "os/terminal.h"

namespace nodescope {

namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned kMaxFrequency = 10'000;

struct Options {
  TargetOptions targets;
  unsigned frequency = 99;
  double interval_seconds = 1;
  double window_seconds = 3;
  unsigned count = 0;
  bool children = false;
  bool async = false;
  SourceMapOptions maps;
};

class TopRun {
 public:
  TopRun(SamplingSession& session, const Options& options)
      : session_(session),
        options_(options),
        maps_(options.maps),
        sources_(maps_),
        window_(Clock::now(), std::chrono::duration<double>(options.window_seconds)) {}

  // With a screen: until the user leaves; without: `count` tables, one after the other.
  Result<void> run() {
    const bool has_screen = standard_output_is_terminal() && standard_input_is_terminal();
    std::unique_ptr<FullScreen> screen = has_screen ? std::make_unique<FullScreen>() : nullptr;
    const InterruptRequest interrupt;
    auto next = Clock::now() + interval();
    for (unsigned shown = 0; !interrupt.requested();) {
      interrupt.sleep_ms(session_.poll_milliseconds());
      session_.poll();
      bool changed = false;
      while (const auto key = screen ? screen->read_key() : std::nullopt) {
        if (!press_key(view_, *key)) return {};
        changed = true;
      }
      const bool due = Clock::now() >= next;
      if (!due && !changed) continue;
      if (due && !session_.has_targets()) return show_end(std::move(screen));
      if (due) next = Clock::now() + interval();
      if (due) note_loops();
      if (due) maps_.remember(session_.targets());
      if (due && !view_.paused)
        first_ = window_.first_sample(Clock::now(), session_.profile().samples.size());
      if (due && view_.paused && !changed) continue;
      if (auto done = show(screen.get()); !done) return done;
      if (due && ++shown == options_.count) return {};
    }
    return {};
  }

 private:
  std::chrono::milliseconds interval() const {
    return std::chrono::milliseconds(static_cast<int>(options_.interval_seconds * 1000));
  }

  void note_loops() {
    const std::vector<LoopStatus> loops = session_.loops()->take_status();
    if (!loops.empty() && !view_.paused) view_.loops = "event loop " + status_text(loops);
  }

  Result<void> show(FullScreen* screen) {
    const TopSize size{terminal_columns(), terminal_rows()};
    const std::size_t first = view_.since_begin ? 0 : first_;
    const Profile window = sources_.window(session_.profile(), first);
    const std::string text = top_text(window, session_.counts(), view_, 0, size);
    if (screen == nullptr)
      return write_output("-", [&](ByteSink& sink) { return sink.write(text + "\n\n"); });
    screen->show(text);
    return {};
  }

  // What stands on the screen goes with it.
  Result<void> show_end(std::unique_ptr<FullScreen> screen) {
    screen.reset();
    session_.finish();
    const std::size_t samples = session_.profile().samples.size();
    const std::size_t first = window_.first_sample(Clock::now(), samples);
    // Nothing since then: what the table before shows was the last.
    if (first < samples) first_ = first;
    view_.typing_filter = false;
    view_.paused = false;
    view_.has_ended = true;
    return show(nullptr);
  }

  SamplingSession& session_;
  const Options& options_;
  LiveSourceMaps maps_;
  TopSources sources_;
  SampleWindow window_;
  TopView view_;
  std::size_t first_ = 0;
};

Result<void> run_top(const Options& options) {
  const auto pids = select_targets(options.targets.spec());
  if (!pids) return std::unexpected(pids.error());
  SamplingOptions sampling{.frequency_hz = options.frequency,
                           .follow_children = options.children,
                           .loops = kRecordingLoops,
                           .async_callers = options.async};
  {
    SamplingSession session(sampling);
    const auto attached = attach_all(session, *pids);
    if (attached) return TopRun(session, options).run();
    if (!is_refused(attached.error())) return attached;
    note("nodescope: {}\nnodescope: stopping for a moment {} times a second instead, while a thread runs\n",
         attached.error().message, kStopsFrequency);
  }
  sampling.frequency_hz = kStopsFrequency;
  sampling.by_stops = true;
  SamplingSession session(sampling);
  if (auto attached = attach_all(session, *pids); !attached) return attached;
  return TopRun(session, options).run();
}

}  // namespace

void add_top_command(CLI::App& app, Run& run) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      app.add_subcommand("top", "Show the functions that use the CPU now, as a table that lives.");
  command->group("Live");
  add_target_options(*command, options->targets, HowMany::kMany);
  limit(*command->add_option("-F,--freq", options->frequency, "Samples per second and thread (99)")
             ->type_name("HZ"),
        1, kMaxFrequency);
  limit(*command->add_option("--interval", options->interval_seconds, "Seconds between two tables (1)")
             ->type_name("SECONDS"),
        0.1, 3600.0);
  limit(*command->add_option("--window", options->window_seconds, "How many seconds a table covers (3)")
             ->type_name("SECONDS"),
        0.1, 3600.0);
  command->add_option("-n,--count", options->count, "Leave after so many tables (0: never)")->type_name("N");
  command->add_flag("--children", options->children, "Also processes that are started from now on");
  command->add_flag("--async", options->async,
                    "Asynchronous callers (async handler) in place of what runs microtasks");
  add_source_map_options(*command, options->maps);
  command->footer(
      "Keys: q leaves, s sorts, / filters, t shows threads, a shows all since the beginning, p pauses.\n"
      "It ends with the process. Without a terminal the tables are written one after the other.\n\n"
      "Example\n"
      "  nodescope top 4711");
  command->callback([options, &run] { run = [options] { return run_top(*options); }; });
}

}  // namespace nodescope
