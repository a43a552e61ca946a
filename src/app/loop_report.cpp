#include "app/loop_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "analysis/overview.h"
#include "app/utc_time.h"
#include "base/text.h"
#include "json/writer.h"
#include "model/application_frame.h"

namespace nodescope {

namespace {

// Frames that a person wants to see of a stack.
constexpr std::size_t kFramesShown = 8;

double milliseconds(std::uint64_t ns) {
  return std::round(static_cast<double>(ns) / 1e3) / 1e3;
}

std::uint64_t share_ns(const Stall& stall, std::uint64_t samples) {
  if (stall.samples == 0) return 0;
  return static_cast<std::uint64_t>(static_cast<double>(stall.duration_ns()) * static_cast<double>(samples) /
                                    static_cast<double>(stall.samples));
}

std::uint64_t samples_of(const Stall& stall, Cause cause) {
  return stall.by_cause[static_cast<std::size_t>(cause)];
}

// Of the time on a CPU: what was waited for has no samples.
std::uint64_t running_share_ns(const LoopTurn& turn, const Stall& stall, Cause cause) {
  const std::uint64_t waited = waiting_ns(turn.turn) + turn.turn.thread.runnable_ns;
  const std::uint64_t duration = turn.turn.duration_ns();
  Stall running = stall;
  running.begin_ns = 0;
  running.end_ns = static_cast<std::int64_t>(duration - std::min(duration, waited));
  return share_ns(running, samples_of(stall, cause));
}

std::string shares_text(const Stall& stall) {
  constexpr std::array kShown = {Cause::kJs,     Cause::kGc,     Cause::kCompile, Cause::kRegExp,
                                 Cause::kNative, Cause::kKernel, Cause::kOther};
  std::string text;
  for (const Cause cause : kShown) {
    const std::uint64_t samples = samples_of(stall, cause);
    if (samples == 0) continue;
    text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", to_string(cause),
                        100.0 * static_cast<double>(samples) / static_cast<double>(stall.samples));
  }
  return text;
}

std::string_view name_of(const Profile& profile, const Frame& frame) {
  const std::string_view function = profile.text(frame.function);
  return function.empty() ? "(anonymous)" : function;
}

std::string frame_line(const Profile& profile, const Frame& frame) {
  std::string text = printable(name_of(profile, frame));
  const std::string_view file = profile.text(frame.file);
  if (file.empty()) return text;
  text += " " + printable(file);
  if (frame.line != 0) text += fmt::format(":{}:{}", frame.line, frame.column);
  return text;
}

// JavaScript where there is any: V8's and libuv's own frames tell a person less.
std::vector<FrameId> frames_to_show(const TurnDetails& details) {
  std::vector<FrameId> shown;
  for (const FrameId id : details.hottest) {
    if (details.profile.frames[id].kind == FrameKind::kJs) shown.push_back(id);
  }
  if (shown.empty()) shown = details.hottest;
  if (shown.size() > kFramesShown) shown.resize(kFramesShown);
  return shown;
}

void write_text(json::Writer& json, std::string_view key, std::string_view text) {
  json.key(key);
  text.empty() ? json.null() : json.string(text);
}

// As libuv calls it; empty where the stacks do not tell.
std::string_view phase_key(LoopPhase phase) {
  switch (phase) {
    case LoopPhase::kMicrotasks:
      return "microtasks";
    case LoopPhase::kClose:
      return "closing";
    case LoopPhase::kUnknown:
      return {};
    default:
      return to_string(phase);
  }
}

void write_number(json::Writer& json, std::string_view key, std::uint32_t value) {
  json.key(key);
  value == 0 ? json.null() : json.count(value);
}

// As `dump --json` has it.
void write_frame(json::Writer& json, const Profile& profile, const Frame& frame) {
  const bool is_script = frame.kind == FrameKind::kJs || frame.kind == FrameKind::kWasm;
  json.begin_object();
  json.key("kind").string(to_string(frame.kind));
  json.key("function").string(name_of(profile, frame));
  write_text(json, "file", profile.text(is_script ? frame.file : frame.module));
  write_number(json, "line", frame.line);
  write_number(json, "column", frame.column);
  write_text(json, "tier", frame.tier == JsTier::kNone ? "" : to_string(frame.tier));
  json.key("inlined").boolean(frame.inlined);
  json.key("sure").boolean(!is_unresolved(profile, frame));
  json.end_object();
}

// What ran when the collection began, as far as it is known.
void write_allocating(json::Writer& json, const Profile& profile, StackId stack) {
  const auto function = application_frame(profile, stack);
  json.key("function");
  function ? json.string(name_of(profile, profile.frames[*function])) : json.null();
  json.key("frames").begin_array();
  for (; stack != kEmptyStack; stack = profile.stacks.caller(stack))
    write_frame(json, profile, profile.frames[profile.stacks.frame(stack)]);
  json.end_array();
}

void write_thread(json::Writer& json, const LoopThread& thread) {
  json.key("pid").integer(thread.pid);
  json.key("tid").integer(thread.tid);
  json.key("thread").string(thread.is_main() ? "main" : "worker");
}

// One line, without what a stream would write around it.
template <typename Write>
std::string json_line(const Write& write) {
  StringSink sink;
  json::Writer json(sink);
  json.begin_object();
  write(json);
  json.end_object();
  // Memory takes everything.
  if (!json.finish()) return {};
  std::string text = sink.text();
  while (text.ends_with('\n')) text.pop_back();
  return text + "\n";
}

}  // namespace

std::string loop_name(const LoopThread& thread, bool with_process) {
  const std::string name = thread.is_main() ? "main" : fmt::format("worker {}", thread.tid);
  return with_process ? fmt::format("{} {}", thread.pid, name) : name;
}

std::string stall_text(const LoopTurn& turn, const TurnDetails& details) {
  const Stall& stall = details.stall;
  std::string function = printable(stall.function.name);
  if (!stall.function.place.empty()) function += " " + printable(stall.function.place);
  std::string text =
      fmt::format("{}  {:<12} {:>10}  {}", utc_time_of_day(stall.wall_ns), loop_name(turn.thread, false),
                  human_duration_ns(turn.turn.duration_ns()), function);
  if (!stall.why.empty()) text += fmt::format(" ({})", printable(stall.why));
  if (turn.turn.lasts) text += ", and goes on";
  text += "\n";
  constexpr std::uint64_t kNotableSlackNs = 1'000'000;
  const std::string slack = turn.turn.slack_ns < kNotableSlackNs
                                ? ""
                                : fmt::format("; known to {}", human_duration_ns(turn.turn.slack_ns));
  const std::string collected =
      details.collected_ns == 0 ? ""
                                : fmt::format("; collections {}", human_duration_ns(details.collected_ns));
  const std::string waited = waiting_text(turn.turn);
  if (!waited.empty())
    text += fmt::format("               {}{}\n", waited,
                        is_of_the_machine(turn.turn) ? ": the machine's doing, not the program's" : "");
  text +=
      stall.samples == 0
          ? fmt::format("               no sample of it: it was not on a CPU{}{}\n", collected, slack)
          : fmt::format("               {}; {} {}{}{}\n", shares_text(stall), with_thousands(stall.samples),
                        stall.samples == 1 ? "sample" : "samples", collected, slack);
  for (const FrameId id : frames_to_show(details))
    text += fmt::format("                 {}\n", frame_line(details.profile, details.profile.frames[id]));
  return text;
}

std::string stall_json(const LoopTurn& turn, const TurnDetails& details) {
  const Stall& stall = details.stall;
  return json_line([&](json::Writer& json) {
    json.key("type").string("stall");
    write_thread(json, turn.thread);
    json.key("start_ns").count(turn.turn.begin_ns);
    json.key("wall").string(utc_time(stall.wall_ns));
    json.key("duration_ms").number(milliseconds(turn.turn.duration_ns()));
    json.key("slack_ms").number(milliseconds(turn.turn.slack_ns));
    if (turn.turn.lasts) json.key("lasts").boolean(true);
    // The readings around a turn lie a little outside of it.
    json.key("runnable_ms")
        .number(milliseconds(std::min(turn.turn.thread.runnable_ns, turn.turn.duration_ns())));
    json.key("waiting_ms").number(milliseconds(waiting_ns(turn.turn)));
    json.key("js_ms").number(milliseconds(running_share_ns(turn, stall, Cause::kJs)));
    // Measured where that is permitted, else by samples.
    json.key("gc_ms").number(milliseconds(
        details.collected_ns != 0 ? details.collected_ns : running_share_ns(turn, stall, Cause::kGc)));
    json.key("native_ms").number(milliseconds(running_share_ns(turn, stall, Cause::kNative)));
    json.key("kernel_ms").number(milliseconds(running_share_ns(turn, stall, Cause::kKernel)));
    write_text(json, "phase", phase_key(stall.phase));
    json.key("function").string(stall.function.name);
    json.key("place").string(stall.function.place);
    json.key("why").string(stall.why);
    json.key("samples").count(stall.samples);
    json.key("frames").begin_array();
    for (const FrameId id : details.hottest) write_frame(json, details.profile, details.profile.frames[id]);
    json.end_array();
  });
}

std::string collection_json(const Profile& profile, const Collection& collection) {
  return json_line([&](json::Writer& json) {
    json.key("type").string("gc");
    write_thread(json, {collection.pid, collection.tid});
    json.key("kind").string(to_string(collection.kind));
    write_text(json, "reason", collection_reason(collection.reason));
    json.key("start_ns").count(collection.begin_ns);
    json.key("duration_ms").number(milliseconds(collection.duration_ns()));
    json.key("measured").boolean(true);
    write_allocating(json, profile, collection.stack);
  });
}

std::string collection_json(const Profile& profile, const SampledCollection& collection) {
  const Thread& thread = profile.thread(collection.thread);
  return json_line([&](json::Writer& json) {
    json.key("type").string("gc");
    write_thread(json, {profile.process(thread.process).pid, thread.tid});
    json.key("kind").string(collection.kind);
    json.key("reason").null();
    json.key("start_ns").count(static_cast<std::uint64_t>(collection.begin_ns));
    json.key("duration_ms").number(milliseconds(static_cast<std::uint64_t>(collection.duration_ns)));
    json.key("measured").boolean(false);
    write_allocating(json, profile, collection.stack);
  });
}

std::string pool_json(const FullPool& pool) {
  return json_line([&](json::Writer& json) {
    json.key("type").string("pool");
    json.key("pid").integer(pool.pid);
    json.key("start_ns").count(pool.begin_ns);
    json.key("duration_ms").number(milliseconds(pool.duration_ns()));
    json.key("threads").count(pool.threads);
    json.key("queued").count(pool.most_queued);
    json.key("work").string(pool.work);
  });
}

std::string tick_json(const LoopStatus& status) {
  const LoopTicks& ticks = status.ticks;
  return json_line([&](json::Writer& json) {
    json.key("type").string("tick");
    write_thread(json, status.thread);
    json.key("ticks");
    ticks.has_turns ? json.count(ticks.turns) : json.null();
    json.key("p50_ms");
    ticks.has_turns ? json.number(milliseconds(ticks.p50_ns)) : json.null();
    json.key("p99_ms");
    ticks.has_turns ? json.number(milliseconds(ticks.p99_ns)) : json.null();
    json.key("max_ms").number(milliseconds(ticks.max_ns));
    json.key("utilisation").number(std::round(ticks.utilisation() * 1e4) / 1e4);
  });
}

std::string status_text(const std::vector<LoopStatus>& loops) {
  if (loops.empty()) return "no event loop found yet";
  const auto busiest = std::ranges::max_element(
      loops, {}, [](const LoopStatus& status) { return status.ticks.utilisation(); });
  const bool several = std::ranges::any_of(
      loops, [&](const LoopStatus& status) { return status.thread.pid != loops.front().thread.pid; });
  const LoopTicks& ticks = busiest->ticks;
  std::string text =
      fmt::format("{}: busy {:.0f} %", loop_name(busiest->thread, several), 100 * ticks.utilisation());
  const double seconds = static_cast<double>(ticks.end_ns - ticks.begin_ns) / 1e9;
  if (ticks.has_turns && seconds > 0) {
    text +=
        fmt::format(" · {} turns/s · p50 {} · p99 {}",
                    with_thousands(static_cast<std::uint64_t>(static_cast<double>(ticks.turns) / seconds)),
                    human_duration_ns(ticks.p50_ns), human_duration_ns(ticks.p99_ns));
  }
  text += fmt::format(" · max {}", human_duration_ns(ticks.max_ns));
  if (loops.size() > 1) text += fmt::format(" · the busiest of {} loops", loops.size());
  return text;
}

}  // namespace nodescope
