#include "analysis/stalls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>

#include "analysis/code_origin.h"
#include "analysis/event_loop.h"
#include "analysis/function_tree.h"
#include "analysis/sample_filter.h"
#include "analysis/saturating.h"
#include "analysis/stall_sentence.h"
#include "base/flat_map.h"
#include "model/turns.h"
#include "model/waiting.h"

namespace nodescope {

namespace {

// Other programs on the processors leave holes in what is seen of a busy thread.  Longer ones than this are
// believed to be sleep, and so is everything of which less than this part was seen running.
constexpr double kMaxHoleNs = 250e6;
constexpr double kLeastBusy = 0.15;
// A hole: more than this since the sample before.
constexpr double kHolePeriods = 2.5;
// Callbacks of a timer come at equal distances, which differ by less than this part of the middle one, and
// are longer than a scheduler's turns.
constexpr double kRegular = 0.25;
constexpr double kTimerPeriods = 5;
constexpr double kTimerNs = 15e6;
constexpr std::uint64_t kTimerBursts = 4;
constexpr std::uint64_t kLeastSamples = 4;
// More than anybody looks at.
constexpr std::size_t kMaxFound = 200'000;
constexpr std::size_t kMaxReported = 10'000;
// Beyond any recording; lengths of what lies within cannot overflow.
constexpr std::int64_t kMaxTimeNs = std::int64_t{1} << 61;
// The part of a stall's samples that the function named for it has at least.
constexpr double kHolderShare = 0.8;
// Where nothing is known about the rate.
constexpr double kUsualPeriodNs = 10e6;

enum class Evidence : std::uint8_t {
  kNothing,      // no event loop, or functions without names: a stack that was not found whole
  kApplication,  // below JavaScript of the application
  kCollector,    // the collector, and nobody says who called it
  kLoop,         // the event loop, or Node's own code on its behalf
};

// What there is to know about a node of the function tree, from the root down to it.
struct NodeFacts {
  std::uint32_t own = 0;          // the deepest function of the application's own code
  std::uint32_t application = 0;  // the same with packages
  std::uint32_t script = 0;       // the deepest JavaScript at all
  std::uint32_t sync = 0;         // the deepest synchronous function of Node
  LoopPhase phase = LoopPhase::kUnknown;
  bool has_loop = false;      // libuv's loop, or JavaScript of Node
  bool has_nameless = false;  // a function that may be the application's
  bool is_request = false;
  bool is_script = false;  // a script that is being loaded
};

bool is_request_function(std::string_view name) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"parserOnIncoming", "parserOnHeadersComplete", "onParserExecute",
                                       "onParserExecuteCommon", "onServerStream"});
  return std::ranges::find(kNames, name) != kNames.end();
}

bool is_script_function(std::string_view name) {
  return name == "Module._compile" || name == "wrapSafe" || name.starts_with("Module._extensions") ||
         name == "Module._load";
}

std::vector<NodeFacts> derive_node_facts(const Profile& profile, const FunctionTree& tree) {
  const std::vector<FrameRole> roles = derive_frame_roles(profile);
  std::vector<NodeFacts> facts(tree.size());
  for (std::uint32_t node = 1; node < facts.size(); ++node) {
    NodeFacts& here = facts[node] = facts[tree.parent(node)];
    const Frame& frame = profile.frames[tree.frame(node)];
    const FrameRole& role = roles[tree.frame(node).index()];
    if (role.is_loop) here.has_loop = true;
    if (role.phase != LoopPhase::kUnknown && here.application == 0) here.phase = role.phase;
    const std::string_view name = profile.text(frame.function);
    // "(program)" of a cpuprofile is all that is not JavaScript.
    if (frame.kind == FrameKind::kNative && name == "(program)") here.has_loop = true;
    if (role.is_nameless_js) here.has_nameless = true;
    if (!role.is_js || role.is_nameless_js) continue;
    here.script = node;
    const Origin origin = origin_of(profile, frame).origin;
    if (origin == Origin::kOwn && !profile.text(frame.file).empty()) here.own = here.application = node;
    if (origin == Origin::kPackage) here.application = node;
    if (origin != Origin::kNode) continue;
    here.has_loop = true;
    if (name.ends_with("Sync")) here.sync = node;
    here.is_request = here.is_request || is_request_function(name);
    here.is_script = here.is_script || is_script_function(name);
  }
  return facts;
}

// A stretch of samples of one thread.
struct Stretch {
  std::uint32_t common = 0;          // what all samples lie below; 0: only the collector was seen
  std::vector<std::uint32_t> nodes;  // of the samples whose callers are known
  std::uint32_t holder = 0;          // the deepest node that has most of them
  std::int64_t first_ns = 0;
  std::int64_t last_ns = 0;
  std::int64_t next_ns = 0;  // when the thread was seen next; 0: never
  std::uint64_t samples = 0;
  std::uint64_t application_samples = 0;
  std::uint64_t sync_samples = 0;
  std::uint32_t sync = 0;
  std::array<std::uint64_t, kCauseCount> by_cause{};
  std::array<std::uint64_t, kLoopPhaseCount> by_phase{};
  // Bursts of samples between holes, and the distances from one's first sample to the next one's.
  std::int64_t burst_ns = 0;
  std::uint64_t distances = 0;
  double distance_sum = 0;
  double distance_squares = 0;
};

// The deepest node that has at least `share`, more than a half, of `nodes` below it; 0 where there is none.
std::uint32_t deepest_shared(const FunctionTree& tree, const std::vector<std::uint32_t>& nodes,
                             double share) {
  const double least = share * static_cast<double>(nodes.size());
  std::map<std::uint32_t, std::uint64_t, std::greater<>> counts;
  for (const std::uint32_t node : nodes) ++counts[node];
  // A caller's number is smaller: when a node is the first, all that lies below it has been counted.
  while (!counts.empty()) {
    const auto [node, count] = *counts.begin();
    counts.erase(counts.begin());
    if (node == 0) break;
    if (static_cast<double>(count) >= least) return node;
    counts[tree.parent(node)] += count;
  }
  return 0;
}

// How much of the time a thread was seen to be busy.
struct BusyTime {
  double busy_ns = 0;
  double idle_ns = 0;  // only of sources that have samples of that
};

struct Found {
  ThreadId thread;
  Stretch stretch;
};

// How long stretches of a thread are by chance, judged by all of them.  Lengths are looked at from the
// shortest on; the first that is improbable is no chance any more, nor is what is longer.
class ChanceLength {
 public:
  void add(std::uint64_t samples) {
    if (samples > 0) ++counts_[samples];
  }

  // Stretches of so many samples and more are no chance.
  std::uint64_t least() const {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ordered(counts_.begin(), counts_.end());
    std::ranges::sort(ordered);
    Shorter any(ordered, 0);
    Shorter not_short(ordered, kLeastSamples - 1);
    for (const auto& [length, count] : ordered) {
      if (length >= kLeastSamples && (any.has_gap_before(length) || not_short.makes_rare(length)))
        return length;
      any.add(length, count);
      not_short.add(length, count);
    }
    return UINT64_MAX;
  }

 private:
  using Lengths = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

  // What stretches that have ended tell about those that are longer.  If a call ends at any sample with the
  // same probability h, then so many of all are longer than n samples: (1 - h)^n; and where r are longer, the
  // next n lengths occur in none with the probability (1 - h)^(n r).  Most stretches may be much shorter than
  // that because they are of other calls, so those up to `beyond` samples can be left out.
  class Shorter {
   public:
    Shorter(const Lengths& all, std::uint64_t beyond) : beyond_(beyond), last_(beyond) {
      for (const auto& [length, count] : all) longer_ += length > beyond ? static_cast<double>(count) : 0;
    }

    void add(std::uint64_t length, std::uint64_t count) {
      if (length <= beyond_) return;
      const auto stretches = static_cast<double>(count);
      ended_ += stretches;
      longer_ -= stretches;
      ended_samples_ += stretches * static_cast<double>(length - beyond_);
      last_ = length;
    }

    // Stalls beside short calls, of which nothing lies between.
    bool has_gap_before(std::uint64_t length) const {
      constexpr double kRare = 0.001;
      constexpr std::uint64_t kManyTimes = 3;
      const auto skipped = static_cast<double>(length - last_ - 1);
      return length >= kManyTimes * last_ && std::pow(goes_on(), longer_ * skipped) < kRare;
    }

    // Less than a thousandth of a stretch would be expected to be so long.
    bool makes_rare(std::uint64_t length) const {
      constexpr double kRare = 0.001;
      constexpr double kEnough = 4;  // to judge by
      return ended_ >= kEnough &&
             (ended_ + longer_) * std::pow(goes_on(), static_cast<double>(length - beyond_ - 1)) < kRare;
    }

   private:
    double goes_on() const {
      return ended_ > 0 ? 1 - ended_ / (ended_samples_ + longer_ * static_cast<double>(last_ - beyond_)) : 0;
    }

    std::uint64_t beyond_;
    std::uint64_t last_;
    double ended_ = 0;
    double ended_samples_ = 0;
    double longer_ = 0;
  };

  FlatMap<std::uint64_t, std::uint64_t> counts_;  // by length
};

class StallFinder {
 public:
  StallFinder(const Profile& profile, const Overview& overview, const std::vector<Cause>& causes)
      : profile_(profile),
        overview_(overview),
        causes_(causes),
        tree_(profile),
        facts_(derive_node_facts(profile, tree_)),
        open_(profile.threads().size()),
        lengths_(profile.threads().size()),
        busy_(profile.threads().size()),
        period_ns_(overview.rate_hz > 0 ? 1e9 / overview.rate_hz : kUsualPeriodNs),
        hole_ns_(std::max(kHolePeriods * period_ns_, kMaxHoleNs)) {}

  // Ordered by time.
  std::vector<Stall> find(const SampleFilter& filter) {
    visit_by_time(profile_, filter, [&](std::size_t i) { add(i); });
    for (std::size_t i = 0; i < open_.size(); ++i) {
      if (open_[i].samples != 0) close(ThreadId{i}, 0);
    }
    leave_out_chance();
    std::vector<Stall> stalls;
    for (const Found& found : found_) stalls.push_back(stall_of(found));
    std::ranges::stable_sort(stalls, {}, &Stall::begin_ns);
    return stalls;
  }

  // Of the busiest thread in `length_ns`.  After find().
  std::optional<double> busy_percent(double length_ns) const {
    std::optional<double> most;
    for (const BusyTime& thread : busy_) {
      if (thread.busy_ns == 0) continue;
      const double all = thread.idle_ns > 0 ? thread.busy_ns + thread.idle_ns : length_ns;
      if (all > 0) most = std::max(most.value_or(0), std::min(100.0, 100 * thread.busy_ns / all));
    }
    return most;
  }

  // Of a marker: the samples of its thread in its time.
  Stall describe(const Marker& marker) {
    Stretch stretch;
    const std::int64_t end = saturating_add(marker.time_ns, std::max<std::int64_t>(marker.duration_ns, 0));
    Selection selection = one_event_of(profile_, {});
    selection.threads = {marker.thread};
    selection.time = TimeRange{since_first(marker.time_ns), since_first(end)};
    if (const auto filter = SampleFilter::build(profile_, selection)) {
      visit_by_time(profile_, *filter,
                    [&](std::size_t i) { count(i, tree_.node_of(profile_.samples.stack(i)), stretch); });
    }
    stretch.holder = deepest_shared(tree_, stretch.nodes, kHolderShare);
    Stall stall = stall_of({marker.thread, stretch});
    stall.estimated = false;
    stall.begin_ns = selection.time->begin_ns;
    stall.end_ns = selection.time->end_ns;
    stall.wall_ns = wall_ns(stall.begin_ns);
    const std::string_view more = profile_.text(marker.name);
    if (!more.empty()) stall.why += fmt::format("{}{}", stall.why.empty() ? "" : ", ", more);
    return stall;
  }

 private:
  Evidence evidence_of(std::size_t sample, std::uint32_t node) const {
    const NodeFacts& facts = facts_[node];
    if (facts.application != 0) return Evidence::kApplication;
    const Cause cause = causes_[profile_.samples.stack(sample).index()];
    if (cause == Cause::kGc) return Evidence::kCollector;
    if (cause == Cause::kIdle) return Evidence::kLoop;
    if (facts.has_nameless) return Evidence::kNothing;
    if (facts.has_loop || facts.phase != LoopPhase::kUnknown) return Evidence::kLoop;
    return Evidence::kNothing;
  }

  void add(std::size_t i) {
    const ThreadId thread = profile_.samples.context(i).thread;
    if (!overview_.threads[thread.index()].runs_js) return;
    const std::uint32_t node = tree_.node_of(profile_.samples.stack(i));
    const std::int64_t time = profile_.samples.time_ns(i);
    const Evidence evidence = evidence_of(i, node);
    note_busy(i, busy_[thread.index()]);
    Stretch& stretch = open_[thread.index()];
    if (evidence == Evidence::kNothing) return;
    if (evidence == Evidence::kLoop) return close(thread, time);
    if (stretch.samples != 0 && is_interrupted(stretch, time)) close(thread, time);
    if (evidence == Evidence::kApplication && stretch.application_samples != 0) {
      const std::uint32_t common = tree_.common(stretch.common, node);
      if (facts_[common].application == 0) {
        close(thread, time);
      } else {
        stretch.common = common;
      }
    }
    if (stretch.samples == 0) {
      stretch.first_ns = stretch.burst_ns = time;
    } else if (distance(stretch.last_ns, time) > kHolePeriods * period_ns_) {
      begin_burst(stretch, time);
    }
    if (evidence == Evidence::kApplication && stretch.application_samples == 0) stretch.common = node;
    stretch.last_ns = time;
    count(i, node, stretch);
  }

  void note_busy(std::size_t i, BusyTime& thread) const {
    const bool has_time = profile_.event(profile_.samples.context(i).event).unit == Unit::kNanoseconds;
    const double length = has_time ? static_cast<double>(profile_.samples.weight(i)) : period_ns_;
    const bool is_idle = causes_[profile_.samples.stack(i).index()] == Cause::kIdle;
    (is_idle ? thread.idle_ns : thread.busy_ns) += length;
  }

  void count(std::size_t i, std::uint32_t node, Stretch& stretch) const {
    const Cause cause = causes_[profile_.samples.stack(i).index()];
    const Evidence evidence = evidence_of(i, node);
    if (evidence == Evidence::kApplication || evidence == Evidence::kLoop) stretch.nodes.push_back(node);
    ++stretch.samples;
    if (facts_[node].application != 0) ++stretch.application_samples;
    ++stretch.by_cause[static_cast<std::size_t>(cause)];
    ++stretch.by_phase[static_cast<std::size_t>(facts_[node].phase)];
    if (facts_[node].sync == 0) return;
    ++stretch.sync_samples;
    stretch.sync = facts_[node].sync;
  }

  // `time` is when the thread was seen next.
  void close(ThreadId thread, std::int64_t time) {
    Stretch& stretch = open_[thread.index()];
    lengths_[thread.index()].add(stretch.samples);
    if (stretch.samples >= kLeastSamples && is_busy(stretch, stretch.last_ns) && !is_timer(stretch)) {
      stretch.next_ns = time;
      stretch.holder = deepest_shared(tree_, stretch.nodes, kHolderShare);
      stretch.nodes = {};
      found_.push_back({thread, std::move(stretch)});
      if (found_.size() >= kMaxFound) keep_longest();
    }
    stretch = {};
  }

  static void begin_burst(Stretch& stretch, std::int64_t time) {
    const double since = distance(stretch.burst_ns, time);
    stretch.burst_ns = time;
    ++stretch.distances;
    stretch.distance_sum += since;
    stretch.distance_squares += since * since;
  }

  // Whether the thread cannot have run from its last sample until `time`.
  bool is_interrupted(const Stretch& stretch, std::int64_t time) const {
    const double hole = distance(stretch.last_ns, time);
    return hole > hole_ns_ || (hole > kHolePeriods * period_ns_ && !is_busy(stretch, time));
  }

  // Whether enough was seen of the thread until then.
  bool is_busy(const Stretch& stretch, std::int64_t until_ns) const {
    return static_cast<double>(stretch.samples) * period_ns_ >=
           kLeastBusy * distance(stretch.first_ns, until_ns);
  }

  bool is_timer(const Stretch& stretch) const {
    if (stretch.distances < kTimerBursts) return false;
    const auto count = static_cast<double>(stretch.distances);
    const double mean = stretch.distance_sum / count;
    const double variance = std::max(0.0, stretch.distance_squares / count - mean * mean);
    return mean >= kTimerNs && mean >= kTimerPeriods * period_ns_ && std::sqrt(variance) < kRegular * mean;
  }

  static double distance(std::int64_t from_ns, std::int64_t to_ns) {
    return static_cast<double>(to_ns) - static_cast<double>(from_ns);
  }

  // Only what is longer than chance makes it counts; a collection is one by itself.
  void leave_out_chance() {
    std::vector<std::uint64_t> least;
    for (const ChanceLength& lengths : lengths_) least.push_back(lengths.least());
    std::erase_if(found_, [&](const Found& found) {
      return found.stretch.common != 0 && found.stretch.samples < least[found.thread.index()];
    });
  }

  // Memory stays bounded; the shortest go.
  void keep_longest() {
    const auto length = [](const Found& found) { return found.stretch.last_ns - found.stretch.first_ns; };
    const auto middle = found_.begin() + kMaxFound / 2;
    std::ranges::nth_element(found_, middle, std::ranges::greater{}, length);
    found_.erase(middle, found_.end());
  }

  std::int64_t since_first(std::int64_t time) const {
    return std::clamp(saturating_sub(time, overview_.first_time_ns), -kMaxTimeNs, kMaxTimeNs);
  }

  std::int64_t wall_ns(std::int64_t since_first_ns) const {
    if (profile_.clock_offset_ns == 0) return 0;
    return saturating_add(saturating_add(profile_.clock_offset_ns, overview_.first_time_ns), since_first_ns);
  }

  Stall stall_of(const Found& found) const {
    const Stretch& stretch = found.stretch;
    Stall stall;
    stall.thread = found.thread;
    stall.samples = stretch.samples;
    stall.begin_ns = since_first(stretch.first_ns);
    stall.wall_ns = wall_ns(stall.begin_ns);
    const double last = static_cast<double>(since_first(stretch.last_ns));
    const double until_next =
        stretch.next_ns == 0 ? period_ns_ : static_cast<double>(since_first(stretch.next_ns)) - last;
    stall.end_ns = static_cast<std::int64_t>(last + std::clamp(until_next, 1.0, period_ns_));
    const auto most = std::ranges::max_element(stretch.by_cause);
    if (stretch.samples > 0) stall.cause = static_cast<Cause>(most - stretch.by_cause.begin());
    stall.by_cause = stretch.by_cause;
    const auto phase = std::ranges::max_element(stretch.by_phase);
    stall.phase = static_cast<LoopPhase>(phase - stretch.by_phase.begin());
    const NodeFacts& facts = facts_[stretch.holder];
    name_holder(stretch, facts, stall);
    stall.why = why(stretch, facts);
    return stall;
  }

  static bool has_half(const Stretch& stretch, Cause cause) {
    return stretch.samples > 0 && stretch.by_cause[static_cast<std::size_t>(cause)] * 2 >= stretch.samples;
  }

  void name_holder(const Stretch& stretch, const NodeFacts& facts, Stall& stall) const {
    std::uint32_t holder = facts.own != 0 ? facts.own : facts.application;
    if (holder == 0 && (stretch.nodes.empty() || has_half(stretch, Cause::kGc)) && stretch.samples > 0) {
      stall.function.name = "(garbage collector)";
      stall.kind = FrameKind::kGc;
      return;
    }
    // Node's own code, which many callbacks have in common.
    if (holder == 0) holder = facts.script != 0 ? facts.script : stretch.holder;
    if (holder == 0) {
      stall.function.name = stretch.samples == 0 ? "(no sample)" : "(several functions)";
      return;
    }
    const Frame& frame = profile_.frames[tree_.frame(holder)];
    stall.function = label_parts_of(profile_, frame);
    stall.kind = frame.kind;
  }

  std::string why(const Stretch& stretch, const NodeFacts& facts) const {
    if (has_half(stretch, Cause::kGc)) return "garbage collection";
    if (has_half(stretch, Cause::kRegExp)) return "backtracking regular expression";
    if (has_half(stretch, Cause::kCompile)) return "compiling";
    if (stretch.sync != 0 && stretch.sync_samples * 2 >= stretch.samples) {
      const Frame& frame = profile_.frames[tree_.frame(stretch.sync)];
      return fmt::format("synchronous call of {}", profile_.text(frame.function));
    }
    if (facts.is_script) return "loading of a script";
    if (facts.is_request) return "http request";
    switch (facts.phase) {
      case LoopPhase::kTimers:
        return "timer callback";
      case LoopPhase::kCheck:
        return "immediate callback";
      case LoopPhase::kMicrotasks:
        return "promise or next tick";
      case LoopPhase::kStartup:
        return "start of the program";
      case LoopPhase::kClose:
        return "close callback";
      default:
        return "";
    }
  }

  const Profile& profile_;
  const Overview& overview_;
  const std::vector<Cause>& causes_;
  FunctionTree tree_;
  std::vector<NodeFacts> facts_;
  std::vector<Stretch> open_;          // by thread
  std::vector<ChanceLength> lengths_;  // by thread
  std::vector<BusyTime> busy_;         // by thread
  double period_ns_;
  double hole_ns_;
  std::vector<Found> found_;
};

bool has_turns(const Profile& profile) {
  const auto fact = profile.facts.find(std::string(kTurnsFact));
  if (fact != profile.facts.end() && fact->second.starts_with(kTurnsMeasured)) return true;
  return std::ranges::any_of(profile.markers,
                             [](const Marker& marker) { return marker.kind == MarkerKind::kStall; });
}

// By time: what is at least so long, of very many the longest; if none is, only the longest of all.
std::vector<Marker> longest_turns(const Profile& profile, const SampleFilter& filter, std::int64_t min_ns) {
  std::vector<Marker> turns;
  for (const Marker& marker : profile.markers) {
    const bool wanted = marker.kind == MarkerKind::kStall && filter.keeps_thread(marker.thread) &&
                        filter.keeps_time(marker.time_ns);
    if (wanted) turns.push_back(marker);
  }
  std::ranges::stable_sort(turns, std::ranges::greater{}, &Marker::duration_ns);
  std::size_t count = turns.empty() ? 0 : 1;
  while (count < std::min(turns.size(), kMaxReported) && turns[count].duration_ns >= min_ns) ++count;
  turns.resize(count);
  std::ranges::stable_sort(turns, {}, &Marker::time_ns);
  return turns;
}

double length_of(const Overview& overview, const Selection& selection) {
  const TimeRange all{0, overview.duration_ns};
  if (!selection.time) return static_cast<double>(all.end_ns);
  return static_cast<double>(std::min(all.end_ns, selection.time->end_ns)) -
         static_cast<double>(std::max(all.begin_ns, selection.time->begin_ns));
}

}  // namespace

std::string thread_title(const Profile& profile, ThreadId id) {
  const Thread& thread = profile.thread(id);
  const Process& process = profile.process(thread.process);
  std::string_view name = profile.text(process.name);
  if (name.empty()) name = profile.text(thread.name);
  if (process.pid == 0 && thread.tid == 0) return name.empty() ? "the main thread" : std::string(name);
  std::string title = fmt::format("{} {}", name.empty() ? "process" : name, process.pid);
  if (thread.tid != process.pid && thread.tid != 0) title += fmt::format(", thread {}", thread.tid);
  return title;
}

Result<StallReport> derive_stalls(const Profile& profile, const Overview& overview,
                                  const std::vector<Cause>& causes, const Selection& selection,
                                  const StallOptions& options) {
  Selection where = one_event_of(profile, {});
  if (selection.event) where.event = selection.event;
  where.time = selection.time;
  where.threads = selection.threads;
  where.pids = selection.pids;
  where.tids = selection.tids;
  where.process_names = selection.process_names;
  where.thread_names = selection.thread_names;
  const auto filter = SampleFilter::build(profile, where);
  if (!filter) return std::unexpected(filter.error());

  StallFinder finder(profile, overview, causes);
  StallReport report;
  report.measured = has_turns(profile);
  std::vector<Stall> stalls;
  if (report.measured) {
    for (const Marker& marker : longest_turns(profile, *filter, options.min_ns))
      stalls.push_back(finder.describe(marker));
  } else if (overview.duration_ns > 0) {
    stalls = finder.find(*filter);
    if (!counts_waiting(profile)) report.busy_percent = finder.busy_percent(length_of(overview, where));
  }

  const auto longest = std::ranges::max_element(stalls, {}, &Stall::duration_ns);
  if (longest != stalls.end()) report.longest = *longest;
  std::erase_if(stalls, [&](const Stall& stall) { return stall.duration_ns() < options.min_ns; });
  report.sentence = stall_sentence(profile, stalls, report.busy_percent);
  report.stalls = std::move(stalls);
  std::ranges::stable_sort(report.stalls, std::ranges::greater{}, &Stall::duration_ns);
  if (report.stalls.size() > kMaxReported) report.stalls.resize(kMaxReported);
  return report;
}

}  // namespace nodescope
