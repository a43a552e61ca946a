#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>

#include "analysis/turn_details.h"
#include "app/commands/command.h"
#include "app/help.h"
#include "app/input.h"
#include "app/loop_report.h"
#include "app/note.h"
#include "app/output.h"
#include "app/recorder.h"
#include "app/selection_options.h"
#include "app/target_options.h"
#include "app/utc_time.h"
#include "base/text.h"
#include "capture/sampling_session.h"
#include "model/application_frame.h"
#include "os/interrupt.h"
#include "os/process.h"
#include "os/terminal.h"

namespace nodescope {

namespace {

using Clock = std::chrono::steady_clock;

// A stall of 50 ms has ten samples.
constexpr unsigned kDefaultFrequency = 199;
constexpr unsigned kMaxFrequency = 10'000;
constexpr double kMaxSeconds = 365 * 86'400.0;
constexpr auto kTickInterval = std::chrono::seconds(1);
// Samples of turns that have ended are not needed any more.
constexpr std::size_t kMaxSamples = 100'000;
constexpr int kStallsSeen = 3;

struct Options {
  TargetOptions targets;
  std::string threshold = "100ms";
  std::optional<double> seconds;
  unsigned frequency = kDefaultFrequency;
  std::string command;
  bool children = false;
  bool json = false;
};

Result<void> print(const std::string& text) {
  return write_output("-", [&](ByteSink& sink) { return sink.write(text); });
}

class LoopRun {
 public:
  LoopRun(SamplingSession& session, const Options& options, std::uint64_t threshold_ns)
      : session_(session), options_(options), threshold_ns_(threshold_ns) {}

  Result<void> run() {
    const InterruptRequest interrupt;
    const auto begin = Clock::now();
    auto next_tick = begin + kTickInterval;
    while (!interrupt.requested()) {
      interrupt.sleep_ms(session_.poll_milliseconds());
      session_.poll();
      if (auto told = tell_collections(); !told) return told;
      if (auto told = tell_full_pools(); !told) return told;
      if (auto told = tell_stalls(); !told) return told;
      if (Clock::now() >= next_tick) {
        next_tick += kTickInterval;
        if (auto told = tell_ticks(); !told) return told;
        if (!session_.has_targets()) break;
      }
      if (options_.seconds && Clock::now() - begin >= std::chrono::duration<double>(*options_.seconds)) break;
    }
    session_.finish();
    if (auto told = tell_collections(); !told) return told;
    if (auto told = tell_full_pools(); !told) return told;
    if (auto told = tell_stalls(); !told) return told;
    clear_line();
    print_diagnostics(session_.profile().diagnostics, "loop");
    return options_.json ? Result<void>() : print(summary(Clock::now() - begin));
  }

  std::uint64_t stalls() const { return stalls_; }
  bool found_loops() const { return session_.loops()->loops_seen() > 0; }

 private:
  Result<void> tell_collections() {
    std::string text;
    for (const Collection& collection : session_.take_collections()) {
      CollectionSum& sum = collections_[static_cast<std::size_t>(collection.kind)];
      ++sum.count;
      sum.total_ns += collection.duration_ns();
      sum.longest_ns = std::max(sum.longest_ns, collection.duration_ns());
      if (const std::string function = allocating_text(collection); !function.empty())
        sum.by_function[function] += collection.duration_ns();
      if (options_.json) text += collection_json(session_.profile(), collection);
    }
    return text.empty() ? Result<void>() : print(text);
  }

  // Lines of one function count together.
  std::string allocating_text(const Collection& collection) const {
    const Profile& profile = session_.profile();
    const auto function = application_frame(profile, collection.stack);
    if (!function) return {};
    const Frame& frame = profile.frames[*function];
    return fmt::format("{} {}", profile.text(frame.function), profile.text(frame.file));
  }

  // Where they cannot be measured samples show some of them.
  Result<void> tell_sampled_collections() {
    const Profile& profile = session_.profile();
    const bool all_measured = std::ranges::all_of(
        sums_, [this](const LoopSum& sum) { return session_.measures_collections(sum.thread.pid); });
    if (all_measured) return {};
    std::string text;
    for (const SampledCollection& collection : find_sampled_collections(profile, first_new_sample_)) {
      const Thread& thread = profile.thread(collection.thread);
      const pid_t pid = profile.process(thread.process).pid;
      const bool has_loop = std::ranges::any_of(
          sums_, [&](const LoopSum& sum) { return sum.thread == LoopThread{pid, thread.tid}; });
      if (!has_loop || session_.measures_collections(pid)) continue;
      ++sampled_.count;
      sampled_.total_ns += static_cast<std::uint64_t>(collection.duration_ns);
      if (options_.json) text += collection_json(profile, collection);
    }
    first_new_sample_ = profile.samples.size();
    return text.empty() ? Result<void>() : print(text);
  }

  Result<void> tell_full_pools() {
    std::string text;
    for (const FullPool& pool : session_.take_full_pools()) {
      if (pool.duration_ns() < threshold_ns_) continue;
      text += options_.json
                  ? pool_json(pool)
                  : fmt::format("{}  process {:<4} {:>10}  {}\n", wall_clock(pool.begin_ns), pool.pid,
                                human_duration_ns(pool.duration_ns()), printable(describe(pool)));
    }
    if (text.empty()) return {};
    clear_line();
    return print(text);
  }

  std::string wall_clock(std::uint64_t time_ns) const {
    return utc_time_of_day(session_.profile().clock_offset_ns + static_cast<std::int64_t>(time_ns));
  }

  Result<void> tell_stalls() {
    for (const auto& found : session_.take_turns()) {
      if (found.turn.turn.duration_ns() < threshold_ns_) continue;
      ++stalls_;
      stalled_ns_ += found.turn.turn.duration_ns();
      longest_ns_ = std::max(longest_ns_, found.turn.turn.duration_ns());
      if (auto told = tell(found); !told) return told;
    }
    reap();
    return {};
  }

  Result<void> tell(const SamplingSession::FoundTurn& found) {
    const Turn& turn = found.turn.turn;
    const Marker marker{static_cast<std::int64_t>(turn.begin_ns),
                        static_cast<std::int64_t>(turn.duration_ns()), found.thread, MarkerKind::kStall,
                        marker_text(turn)};
    const TurnDetails details = describe_turn(session_.profile(), marker);
    clear_line();
    if (!options_.command.empty()) start_command(stall_json(found.turn, details));
    return print(options_.json ? stall_json(found.turn, details) : stall_text(found.turn, details));
  }

  // Of the marker that the session has made of the same turn.
  StringId marker_text(const Turn& turn) const {
    const auto& markers = session_.profile().markers;
    const auto found = std::ranges::find_if(markers.rbegin(), markers.rend(), [&](const Marker& marker) {
      return marker.time_ns == static_cast<std::int64_t>(turn.begin_ns);
    });
    return found == markers.rend() ? StringId{} : found->name;
  }

  // The stall reaches the command as its first argument: nothing in it is ever part of the command itself.
  void start_command(std::string stall) {
    stall.pop_back();
    auto started = start_detached({"/bin/sh", "-c", options_.command, "nodescope", stall});
    if (started) {
      children_.push_back(*started);
    } else {
      note("nodescope: {}\n", printable(started.error().message));
    }
  }

  void reap() {
    std::erase_if(children_, [](pid_t pid) { return take_exit_code(pid).has_value(); });
  }

  Result<void> tell_ticks() {
    const std::vector<LoopStatus> loops = session_.loops()->take_status();
    note_use(loops);
    if (auto told = tell_sampled_collections(); !told) return told;
    const bool any_open = std::ranges::any_of(
        loops, [this](const LoopStatus& status) { return status.busy_for_ns >= threshold_ns_ / 2; });
    const bool many = session_.profile().samples.size() + session_.profile().markers.size() > kMaxSamples;
    if (!any_open && many) {
      session_.forget_samples();
      first_new_sample_ = 0;
    }
    if (options_.json) {
      std::string text;
      for (const LoopStatus& status : loops) text += tick_json(status);
      return text.empty() ? Result<void>() : print(text);
    }
    if (!standard_error_is_terminal()) return {};
    note_at_once("\r\033[K{}", status_text(loops));
    line_shown_ = true;
    return {};
  }

  void note_use(const std::vector<LoopStatus>& loops) {
    for (const LoopStatus& status : loops) {
      auto known = std::ranges::find(sums_, status.thread, &LoopSum::thread);
      if (known == sums_.end()) known = sums_.insert(sums_.end(), {status.thread, {}});
      LoopTicks& sum = known->ticks;
      if (sum.end_ns == 0) sum.begin_ns = status.ticks.begin_ns;
      sum.end_ns = status.ticks.end_ns;
      sum.busy_ns += status.ticks.busy_ns;
      sum.turns += status.ticks.turns;
      sum.has_turns = status.ticks.has_turns;
      sum.max_ns = std::max(sum.max_ns, status.ticks.max_ns);
    }
  }

  std::string summary(Clock::duration elapsed) {
    note_use(session_.loops()->take_status());
    const double seconds = std::chrono::duration<double>(elapsed).count();
    if (sums_.empty())
      return fmt::format("No event loop was measured in {:.0f} s; 'nodescope doctor' looks for the cause\n",
                         seconds);
    std::string text = stalls_ == 0
                           ? fmt::format("No stall of {} or more in {:.0f} s, measured\n",
                                         human_duration_ns(threshold_ns_), seconds)
                           : fmt::format("{} {} of {} or more in {:.0f} s, measured: {} in all, longest {}\n",
                                         with_thousands(stalls_), stalls_ == 1 ? "stall" : "stalls",
                                         human_duration_ns(threshold_ns_), seconds,
                                         human_duration_ns(stalled_ns_), human_duration_ns(longest_ns_));
    const bool several = std::ranges::any_of(
        sums_, [this](const LoopSum& sum) { return sum.thread.pid != sums_.front().thread.pid; });
    for (const LoopSum& sum : sums_) {
      text += fmt::format("{:<20} busy {:>5.1f} %", loop_name(sum.thread, several),
                          100 * sum.ticks.utilisation());
      if (sum.ticks.has_turns) text += fmt::format(", {} turns", with_thousands(sum.ticks.turns));
      text += fmt::format(", longest {}\n", human_duration_ns(sum.ticks.max_ns));
    }
    return text + collections_text(seconds);
  }

  // "scavenge 34 pauses, 45 ms in all (0.4 %), longest 3 ms; most in buildRows /app/rows.js"
  std::string collections_text(double seconds) const {
    std::string text;
    for (std::size_t i = 0; i < collections_.size(); ++i) {
      const CollectionSum& sum = collections_[i];
      if (sum.count == 0) continue;
      text +=
          fmt::format("{:<20} {:>6} {}, {} in all ({:.1f} % of the time), longest {}",
                      to_string(static_cast<CollectionKind>(i)), with_thousands(sum.count),
                      sum.count == 1 ? "pause" : "pauses", human_duration_ns(sum.total_ns),
                      static_cast<double>(sum.total_ns) / 1e7 / seconds, human_duration_ns(sum.longest_ns));
      const auto most =
          std::ranges::max_element(sum.by_function, {}, [](const auto& each) { return each.second; });
      if (most != sum.by_function.end()) text += "; most in " + printable(most->first);
      text += "\n";
    }
    if (sampled_.count != 0)
      text += fmt::format("{:<20} {:>6} {}, {} in all ({:.1f} % of the time), by samples\n", "collection",
                          with_thousands(sampled_.count), sampled_.count == 1 ? "pause" : "pauses",
                          human_duration_ns(sampled_.total_ns),
                          static_cast<double>(sampled_.total_ns) / 1e7 / seconds);
    return text;
  }

  void clear_line() {
    if (line_shown_) note("\r\033[K");
    line_shown_ = false;
  }

  struct CollectionSum {
    std::uint64_t count = 0;
    std::uint64_t total_ns = 0;
    std::uint64_t longest_ns = 0;
    std::map<std::string, std::uint64_t> by_function;  // nanoseconds
  };

  struct LoopSum {
    LoopThread thread;
    LoopTicks ticks;
  };

  SamplingSession& session_;
  const Options& options_;
  std::uint64_t threshold_ns_;
  std::uint64_t stalls_ = 0;
  std::uint64_t stalled_ns_ = 0;
  std::uint64_t longest_ns_ = 0;
  std::vector<LoopSum> sums_;
  std::array<CollectionSum, kCollectionKinds> collections_{};
  CollectionSum sampled_;
  std::size_t first_new_sample_ = 0;
  std::vector<pid_t> children_;
  bool line_shown_ = false;
};

Result<void> run_loop(const Options& options, RecordedCommand& program) {
  const auto threshold = parse_duration_ns(options.threshold);
  if (!threshold || *threshold <= 0)
    return fail(ErrorCode::kUsage,
                fmt::format("--threshold {}: not a time; write 100ms or 0.2s", options.threshold));
  const auto pids = select_targets(options.targets.spec());
  if (!pids) return std::unexpected(pids.error());
  LoopWatchOptions loops;
  loops.least_turn_ns = std::min(loops.least_turn_ns, static_cast<std::uint64_t>(*threshold));
  SamplingSession session({options.frequency, options.children, false, loops});
  if (auto attached = attach_all(session, *pids); !attached) return attached;
  LoopRun run(session, options, static_cast<std::uint64_t>(*threshold));
  if (auto done = run.run(); !done) return done;
  if (!run.found_loops()) return fail(ErrorCode::kUnsupported, "no event loop could be measured");
  program.exit_code = run.stalls() > 0 ? kStallsSeen : 0;
  return {};
}

}  // namespace

void add_loop_command(CLI::App& app, Run& run, RecordedCommand& program) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "loop", "Measure the event loops of running processes: use, turns, and every stall with its function.");
  command->group("Live");
  add_target_options(*command, options->targets, HowMany::kMany);
  command->add_option("--threshold", options->threshold, "A turn of this length is a stall (100ms)")
      ->type_name("TIME");
  limit(
      *command->add_option("-d,--duration", options->seconds, "Seconds (until Ctrl-C, or the processes end)")
           ->type_name("SECONDS"),
      0.1, kMaxSeconds);
  limit(*command
             ->add_option("-F,--freq", options->frequency,
                          "Samples per second and thread, for the stacks (199)")
             ->type_name("HZ"),
        1, kMaxFrequency);
  command
      ->add_option("--exec", options->command,
                   "A shell command to start for each stall, which it gets as JSON in \"$1\"")
      ->type_name("COMMAND");
  command->add_flag("--children", options->children, "Also processes that are started from now on");
  command->add_flag("--json", options->json, "An object a line: each stall, and each loop once a second");
  command->footer(
      "A turn is what a loop does from epoll's return to its next call. It is measured from libuv's own "
      "account of its\n"
      "idle time, which is read from the process's memory; nothing is stopped, loaded or changed. Before "
      "Node.js 20.3\n"
      "libuv does not count turns: there is no p50 and p99, and a turn in which timers are set may count as "
      "two.\n"
      "The exit code is 3 if there was a stall.\n\n"
      "Examples\n"
      "  nodescope loop 4711\n"
      "  nodescope loop server.js --threshold 50ms -d 60\n"
      "  nodescope loop --tree 4711 --json >> stalls.jsonl\n"
      "  nodescope loop 4711 --exec 'logger -t stall \"$1\"'");
  command->callback(
      [options, &run, &program] { run = [options, &program] { return run_loop(*options, program); }; });
}

}  // namespace nodescope
