#include "analysis/overview.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "analysis/code_origin.h"
#include "analysis/sample_filter.h"
#include "analysis/saturating.h"

namespace nodescope {

namespace {

enum class Known : std::uint8_t { kNothing, kAll, kNone, kSome };

// What stacks of a thread say about what it is for.
constexpr std::uint8_t kRunsJs = 1;
constexpr std::uint8_t kServesV8 = 2;
constexpr std::uint8_t kServesLibuv = 4;

struct StackFacts {
  Known known = Known::kNothing;
  std::uint8_t hints = 0;
};

std::uint8_t hints_of(const Profile& profile, const Frame& frame) {
  if (frame.kind == FrameKind::kJs || frame.kind == FrameKind::kWasm) return kRunsJs;
  if (frame.kind != FrameKind::kNative) return 0;
  const std::string_view function = profile.text(frame.function);
  if (function.contains("PlatformWorkerThread") || function.contains("DelayedTaskScheduler"))
    return kServesV8;
  // The main function of the threads in libuv's pool, and what it calls.
  return function == "worker" || function == "uv__fs_work" || function == "uv__getaddrinfo_work"
             ? kServesLibuv
             : 0;
}

// How a program or a thread begins: part of it has no symbols in the C library of most distributions, and
// below it nothing is in doubt.
bool is_start_code(const Profile& profile, const Frame& frame) {
  constexpr auto kNames =
      std::to_array<std::string_view>({"_start", "__libc_start_main", "__libc_start_main_impl",
                                       "__libc_start_call_main", "clone", "clone3", "start_thread"});
  const std::string_view function = profile.text(frame.function);
  if (function.empty()) return origin_of(profile, frame).origin == Origin::kNative;
  return std::ranges::find(kNames, function) != kNames.end();
}

Known combine(Known caller, bool resolved) {
  const Known here = resolved ? Known::kAll : Known::kNone;
  return caller == Known::kNothing || caller == here ? here : Known::kSome;
}

std::vector<StackFacts> derive_stack_facts(const Profile& profile) {
  std::vector<bool> unresolved(profile.frames.size());
  std::vector<bool> start_code(profile.frames.size());
  std::vector<std::uint8_t> hints(profile.frames.size());
  for (std::size_t i = 0; i < unresolved.size(); ++i) {
    unresolved[i] = is_unresolved(profile, profile.frames[FrameId{i}]);
    start_code[i] = is_start_code(profile, profile.frames[FrameId{i}]);
    hints[i] = hints_of(profile, profile.frames[FrameId{i}]);
  }
  std::vector<StackFacts> facts(profile.stacks.size());
  for (std::size_t i = 1; i < facts.size(); ++i) {
    const StackId stack{i};
    const FrameId frame = profile.stacks.frame(stack);
    const StackFacts& caller = facts[profile.stacks.caller(stack).index()];
    const bool is_start = caller.known == Known::kNothing && start_code[frame.index()];
    facts[i] = {is_start ? Known::kNothing : combine(caller.known, !unresolved[frame.index()]),
                static_cast<std::uint8_t>(caller.hints | hints[frame.index()])};
  }
  return facts;
}

// Names that Node, libuv and V8 give to their threads; Linux cuts names after 15 bytes.
ThreadRole role_by_name(std::string_view name) {
  for (const std::string_view v8 : {"V8 ", "V8Worker", "node-V8", "DelayedTask"}) {
    if (name.starts_with(v8)) return ThreadRole::kV8;
  }
  if (name.starts_with("libuv-worker") || name.starts_with("iou-sqp")) return ThreadRole::kLibuv;
  return ThreadRole::kOther;
}

// What the stacks of each thread say.
std::vector<std::uint8_t> add_samples(const Profile& profile, const std::vector<StackFacts>& stacks,
                                      Overview& overview) {
  const SampleTable& samples = profile.samples;
  std::vector<std::uint64_t> by_context(samples.contexts().size());
  std::vector<std::uint8_t> hints_by_context(samples.contexts().size());
  std::array<std::uint64_t, 4> by_knowledge{};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::size_t context = samples.context_id(i).index();
    const StackFacts& stack = stacks[samples.stack(i).index()];
    ++by_context[context];
    hints_by_context[context] |= stack.hints;
    ++by_knowledge[static_cast<std::size_t>(stack.known)];
  }
  overview.resolution = {by_knowledge[static_cast<std::size_t>(Known::kAll)],
                         by_knowledge[static_cast<std::size_t>(Known::kSome)],
                         by_knowledge[static_cast<std::size_t>(Known::kNone)] +
                             by_knowledge[static_cast<std::size_t>(Known::kNothing)]};
  std::vector<std::uint8_t> hints(profile.threads().size());
  for (std::size_t i = 0; i < by_context.size(); ++i) {
    const SampleContext& context = samples.contexts()[i];
    ThreadOverview& thread = overview.threads[context.thread.index()];
    thread.samples += by_context[i];
    hints[context.thread.index()] |= hints_by_context[i];
    (context.event == EventId{} ? overview.accounting.shown : overview.accounting.other_events) +=
        by_context[i];
  }
  overview.accounting.lost = profile.lost_samples;
  overview.accounting.taken = samples.size() + profile.lost_samples;
  return hints;
}

void add_roles(const Profile& profile, const std::vector<std::uint8_t>& hints, Overview& overview) {
  for (std::size_t i = 0; i < overview.threads.size(); ++i) {
    const Thread& thread = profile.threads()[i];
    const Process& process = profile.process(thread.process);
    ThreadOverview& about = overview.threads[i];
    about.role = role_by_name(profile.text(thread.name));
    about.runs_js = (hints[i] & kRunsJs) != 0;
    if (about.role == ThreadRole::kOther && (hints[i] & kServesV8) != 0) about.role = ThreadRole::kV8;
    if (about.role == ThreadRole::kOther && (hints[i] & kServesLibuv) != 0) about.role = ThreadRole::kLibuv;
    if (about.runs_js) {
      const bool is_first = thread.tid == process.pid || process.pid == 0;
      about.role = is_first ? ThreadRole::kMain : ThreadRole::kWorker;
    }
  }
}

void add_times(const Profile& profile, Overview& overview) {
  const SampleTable& samples = profile.samples;
  if (samples.size() == 0) return;
  overview.first_time_ns = first_time_ns(profile);
  std::int64_t last = samples.time_ns(samples.size() - 1);
  if (!samples.is_sorted_by_time()) {
    for (std::size_t i = 0; i < samples.size(); ++i) last = std::max(last, samples.time_ns(i));
  }
  overview.duration_ns = saturating_sub(last, overview.first_time_ns);
}

// "/srv/app/" of "/srv/app/server.js" and "/srv/app/lib/x.js".
std::string common_folder(const Profile& profile) {
  std::string_view root;
  bool any = false;
  for (std::size_t i = 0; i < profile.frames.size(); ++i) {
    const Frame& frame = profile.frames[FrameId{i}];
    const std::string_view file = profile.text(frame.file);
    if (frame.kind != FrameKind::kJs || !(file.starts_with('/') || file.starts_with("file://"))) continue;
    if (origin_of(profile, frame).origin != Origin::kOwn) continue;
    const std::string_view folder = file.substr(0, file.rfind('/') + 1);
    if (!any) {
      root = folder;
      any = true;
      continue;
    }
    const auto differs = std::ranges::mismatch(root, folder).in1;
    root = root.substr(0, static_cast<std::size_t>(differs - root.begin()));
    root = root.substr(0, root.rfind('/') + 1);
  }
  return std::string(root);
}

// The median gap between samples of the thread that has most; the first so many tell enough.
double estimate_rate(const Profile& profile, const Overview& overview) {
  constexpr std::size_t kMaxGaps = 20'000;
  constexpr std::size_t kMinGaps = 8;
  const auto busiest = std::ranges::max_element(overview.threads, {}, &ThreadOverview::samples);
  const ThreadId thread{static_cast<std::size_t>(busiest - overview.threads.begin())};
  std::vector<std::int64_t> gaps;
  std::int64_t before = 0;
  bool any = false;
  for (std::size_t i = 0; i < profile.samples.size() && gaps.size() < kMaxGaps; ++i) {
    const SampleContext& context = profile.samples.context(i);
    if (context.thread != thread || context.event != EventId{}) continue;
    const std::int64_t time = profile.samples.time_ns(i);
    std::int64_t gap = 0;
    if (any && !__builtin_sub_overflow(time, before, &gap) && gap > 0) gaps.push_back(gap);
    before = time;
    any = true;
  }
  if (gaps.size() < kMinGaps) return 0;
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::ranges::nth_element(gaps, middle);
  return 1e9 / static_cast<double>(*middle);
}

void add_rate(const Profile& profile, Overview& overview) {
  if (const auto fact = profile.facts.find("rate"); fact != profile.facts.end()) {
    overview.rate_hz = std::strtod(fact->second.c_str(), nullptr);
  }
  if (overview.rate_hz > 0 && overview.rate_hz < 1e9) return;
  overview.rate_hz = estimate_rate(profile, overview);
  overview.rate_estimated = overview.rate_hz > 0;
}

}  // namespace

std::string_view to_string(ThreadRole role) {
  constexpr std::array<std::string_view, 5> kNames = {"main", "worker", "v8", "libuv", "other"};
  return kNames[static_cast<std::size_t>(role)];
}

bool is_unresolved(const Profile& profile, const Frame& frame) {
  const std::string_view function = profile.text(frame.function);
  if (function.empty()) return frame.kind != FrameKind::kJs;  // an anonymous function is known by its place
  return function == "[unknown]" || function == "[unknown js]";
}

Overview derive_overview(const Profile& profile) {
  Overview overview;
  overview.threads.resize(profile.threads().size());
  add_roles(profile, add_samples(profile, derive_stack_facts(profile), overview), overview);
  add_times(profile, overview);
  for (std::size_t i = 0; i < profile.frames.size() && !overview.kinds_known; ++i) {
    overview.kinds_known = profile.frames[FrameId{i}].kind != FrameKind::kUnknown;
  }
  overview.app_root = common_folder(profile);
  add_rate(profile, overview);
  return overview;
}

}  // namespace nodescope
