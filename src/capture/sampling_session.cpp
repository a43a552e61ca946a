#include "capture/sampling_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "base/text.h"
#include "binary/image.h"
#include "capture/process_sources.h"
#include "formats/symbol_name.h"
#include "model/turns.h"
#include "model/waiting.h"
#include "os/interrupt.h"
#include "os/process.h"
#include "os/procfs.h"
#include "perf/words.h"
#include "target/invocation.h"
#include "target/live_process.h"
#include "target/other_runtime.h"

namespace nodescope {

namespace {

constexpr std::size_t kMaxKernelFrames = 1 << 20;

// While a program starts, all its code is young and moves.  A thread may be a worker, with a heap of its own
// that goes with it, and many live for less than a second.
constexpr std::int64_t kYoungProcessNs = 3'000'000'000;
constexpr std::int64_t kYoungThreadNs = 1'000'000'000;

// The clock's sampler is there for maps, names and new processes too, also where its samples are not wanted.
constexpr unsigned kTrackingHz = 1;
// Threads leave a CPU some hundred times a second; what they wait in is not as deep as a compiler at work.
constexpr unsigned kSwitchesExpected = 1000;
constexpr std::uint32_t kSwitchStackBytes = 32 * 1024;

std::string_view name_of_event(SampledTime time) {
  switch (time) {
    case SampledTime::kOffCpu:
      return kOffCpuEvent;
    case SampledTime::kBoth:
      return kWallClockEvent;
    default:
      return "cpu-clock";
  }
}

template <typename Clock>
std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch()).count();
}

// What a Node.js process runs, without its arguments: a recording is mailed, and they may hold a password.
std::optional<std::string> command_of(pid_t pid) {
  const auto text = read_proc_file(pid, "cmdline");
  const std::string script = text ? parse_invocation(*text).script : std::string();
  return script.empty() ? std::nullopt : std::optional("node " + script);
}

// What the stacks of one round may cost.  A process can make looking at it as slow as it likes, and then it
// must keep nobody waiting: neither the others, nor the user who ends the recording.
class WorkBudget {
 public:
  bool is_used_up() const {
    constexpr std::uint64_t kRoundNs = 3'000'000'000;
    constexpr std::uint64_t kAtEndNs = 300'000'000;
    const std::uint64_t used = own_cpu_ns() - begin_;
    if (!InterruptRequest::any_requested()) return used > kRoundNs;
    if (!end_) end_ = used + kAtEndNs;
    return used > *end_;
  }

 private:
  std::uint64_t begin_ = own_cpu_ns();
  mutable std::optional<std::uint64_t> end_;  // once it was interrupted
};

}  // namespace

SamplingSession::SamplingSession(const SamplingOptions& options)
    : options_(options), kernel_(&files_, search_, profile_.diagnostics) {
  const PerfSamplerOptions perf{
      .frequency_hz = options.time == SampledTime::kOffCpu ? kTrackingHz : options.frequency_hz,
      .follow_children = options.follow_children};
  if (options.by_stops) {
    auto stops = std::make_unique<StopSampler>(options.frequency_hz, perf.stack_bytes);
    stops_ = stops.get();
    sampler_ = std::move(stops);
  } else {
    sampler_ = std::make_unique<PerfSampler>(perf);
  }
  event_ = profile_.intern_event(name_of_event(options.time), Unit::kNanoseconds);
  if (options.time != SampledTime::kOnCpu)
    switches_.emplace(PerfSamplerOptions{.frequency_hz = kSwitchesExpected,
                                         .stack_bytes = kSwitchStackBytes,
                                         .follow_children = options.follow_children,
                                         .moment = SampledMoment::kLeaveCpu});
  kernel_.identity().release = kernel_release();
  // Samples carry the monotonic clock.
  profile_.clock_offset_ns = now_ns<std::chrono::system_clock>() - now_ns<std::chrono::steady_clock>();
  profile_.facts["rate"] = fmt::format("{} Hz", options.frequency_hz);
  profile_.facts["kernel"] = kernel_.identity().release;
  profile_.facts["host"] = host_name();
  if (options.loops) loops_ = std::make_unique<LoopWatch>(*options.loops);
}

SamplingSession::~SamplingSession() = default;

void SamplingSession::prepare(pid_t pid) {
  if (std::ranges::find(targets_, pid) != targets_.end()) return;
  if (attributes_.empty()) learn_attribute();
  targets_.push_back(pid);
  handles_.emplace_back(pid);
  process(pid);
}

Result<void> SamplingSession::attach(pid_t pid) {
  prepare(pid);
  if (auto attached = attach_switches(pid, false); !attached) return attached;
  return sampler_->attach(pid);
}

// Leaving a CPU happens in the kernel.
Result<void> SamplingSession::attach_switches(pid_t pid, bool before_exec) {
  if (!switches_) return {};
  if (!switches_->sees_kernel())
    return fail(ErrorCode::kPermission,
                "waiting is seen only by those who may sample the kernel: run as root (sudo), give this file "
                "CAP_PERFMON, or "
                "'sysctl kernel.perf_event_paranoid=1'");
  return before_exec ? switches_->attach_before_exec(pid) : switches_->attach(pid);
}

Result<void> SamplingSession::attach_before_exec(pid_t pid) {
  if (attributes_.empty()) learn_attribute();
  targets_.push_back(pid);
  handles_.emplace_back(pid);
  command_ = pid;
  if (auto attached = attach_switches(pid, true); !attached) return attached;
  return sampler_->attach_before_exec(pid);
}

// All events have the same attribute, as far as records depend on it.
void SamplingSession::learn_attribute() {
  sampler_->settle_features();
  if (auto attribute = perf::EventAttribute::parse(sampler_->attribute()))
    attributes_.add(std::move(*attribute), {});
  if (switches_) {
    switches_->settle_features();
    if (auto attribute = perf::EventAttribute::parse(switches_->attribute()))
      switch_attributes_.add(std::move(*attribute), {});
  }
  // The kernel's symbols take a twentieth of a second to read: while that goes on, samples would grow old.
  if (sampler_->sees_kernel()) {
    kernel_.resolve(Address{});
  } else if (stops_ == nullptr) {
    profile_.diagnostics.info("this user may not sample the kernel: its frames are missing");
  }
}

void SamplingSession::note_facts(const ProcessStacks& process) {
  if (process.view() == nullptr) return;
  // Of several programs, such as a shell that starts node, Node.js counts.
  if (process.view()->layout() == nullptr && profile_.facts.contains("node")) return;
  profile_.facts["program"] = process.view()->process().executable();
  if (const auto& container = process.view()->process().container_id())
    profile_.facts["container"] = *container;
  if (const v8::Layout* layout = process.view()->layout()) {
    profile_.facts["node"] = layout->versions.node;
    profile_.facts["v8"] = layout->versions.v8;
    // The first of several: the others were started by it.
    const auto command = command_of(process.view()->process().pid());
    if (command) profile_.facts.try_emplace("command", *command);
  }
}

void SamplingSession::note_other_runtime(const ProcessStacks& process) {
  if (process.view() == nullptr || process.view()->layout() != nullptr) return;
  const TargetProcess& target = process.view()->process();
  if (const auto other = describe_other_runtime(target.executable()))
    profile_.diagnostics.warn("a process is not Node.js",
                              fmt::format("process {} is {}", target.pid(), *other));
}

bool SamplingSession::has_targets() const {
  return std::ranges::any_of(handles_, [](const ProcessHandle& handle) { return !handle.has_ended(); });
}

ProcessStacks* SamplingSession::process(pid_t pid) {
  const auto known = processes_.find(static_cast<std::uint64_t>(pid));
  if (known != processes_.end()) return known->second.get();
  // Kernels without inherit_thread sample child processes too.
  const bool is_target = std::ranges::find(targets_, pid) != targets_.end();
  if (!options_.follow_children && !command_ && !is_target) return nullptr;
  const std::uint64_t age_ns = process_age_ns(pid).value_or(0);
  if (age_ns < kYoungProcessNs) look_often(kYoungProcessNs - static_cast<std::int64_t>(age_ns));
  auto stacks = std::make_unique<ProcessStacks>(
      pid, profile_, cache_,
      options_.async_callers ? ProcessStacks::AsyncCallers::kRead : ProcessStacks::AsyncCallers::kLeaveOut);
  note_facts(*stacks);
  note_other_runtime(*stacks);
  watch_loops(*stacks);
  return processes_.emplace(static_cast<std::uint64_t>(pid), std::move(stacks)).first->second.get();
}

void SamplingSession::look_often(std::int64_t for_ns) {
  young_until_ns_ = std::max(young_until_ns_, now_ns<std::chrono::steady_clock>() + for_ns);
}

int SamplingSession::poll_milliseconds() const {
  if (stops_ != nullptr) return 10;
  constexpr unsigned kFewSamples = 200;
  if (options_.async_callers) return 1;
  if (now_ns<std::chrono::steady_clock>() < young_until_ns_) return 5;
  return options_.frequency_hz <= kFewSamples ? 75 : 25;
}

void SamplingSession::poll() {
  batch_.clear();
  // The samples of a turn that has ended are in the buffers.
  const auto turns = loops_ ? loops_->take_turns() : std::vector<LoopTurn>();
  collect(*sampler_, attributes_, false);
  if (switches_) collect(*switches_, switch_attributes_, true);
  if (!batch_.empty()) {
    std::ranges::stable_sort(batch_, {}, &TimedRecord::time);
    for (auto& [pid, stacks] : processes_) stacks->begin_batch();
    const WorkBudget budget;
    for (const TimedRecord& record : batch_) {
      if (!record.is_of_switches && record.is_sample() && budget.is_used_up()) {
        leave_out_sample();
      } else {
        handle(record);
      }
    }
    if (!budget.is_used_up()) add_deferred();
    for (std::size_t i = 0; i < deferred_.size(); ++i) leave_out_sample();
    deferred_.clear();
    // At once: the process may end, with the folders that only it had.
    if (options_.keep_sources) keep_sources();
    forget_ended();
  }
  sampler_->release();
  if (switches_) switches_->release();
  add_turns(turns);
  add_collections();
}

void SamplingSession::watch_loops(const ProcessStacks& process) {
  if (loops_ == nullptr || process.view() == nullptr || process.view()->layout() == nullptr) return;
  loops_->watch(process.view()->process().pid());
}

// A thread that no sample was taken of, such as one that only waited, has the name that it gave itself.
ThreadId SamplingSession::thread_of(const LoopThread& thread) {
  for (std::size_t i = profile_.threads().size(); i-- > 0;) {
    const Thread& known = profile_.threads()[i];
    if (known.tid == thread.tid && profile_.process(known.process).pid == thread.pid) return ThreadId{i};
  }
  const auto process = processes_.find(static_cast<std::uint64_t>(thread.pid));
  if (process == processes_.end()) return {};
  return profile_.intern_thread(process->second->process_id(), thread.tid,
                                to_valid_utf8(thread_name(thread.pid, thread.tid)));
}

void SamplingSession::add_turns(const std::vector<LoopTurn>& turns) {
  if (loops_ == nullptr) return;
  profile_.diagnostics.merge(loops_->take_diagnostics());
  if (loops_->loops_seen() > 0) profile_.facts[std::string(kTurnsFact)] = kTurnsMeasured;
  for (const LoopTurn& turn : turns) {
    const ThreadId thread = thread_of(turn.thread);
    found_turns_.push_back({turn, thread});
    profile_.markers.push_back({static_cast<std::int64_t>(turn.turn.begin_ns),
                                static_cast<std::int64_t>(turn.turn.duration_ns()), thread,
                                MarkerKind::kStall, profile_.strings.intern(waiting_text(turn.turn))});
  }
}

void SamplingSession::add_collections() {
  if (loops_ == nullptr) return;
  for (const LoopThread& thread : loops_->take_found()) {
    const auto watched = collections_.watch(thread.pid, thread.tid);
    // They are in the samples all the same.
    if (!watched && watched.error().code != ErrorCode::kNotFound)
      profile_.diagnostics.info("pauses of the collector are seen in samples only", watched.error().message);
  }
  for (const Collection& collection : collections_.take()) {
    const ThreadId thread = thread_of({collection.pid, collection.tid});
    const std::string_view reason = collection_reason(collection.reason);
    const std::string name =
        fmt::format("{}{}", to_string(collection.kind), reason.empty() ? "" : fmt::format(": {}", reason));
    profile_.markers.push_back({static_cast<std::int64_t>(collection.begin_ns),
                                static_cast<std::int64_t>(collection.duration_ns()), thread, MarkerKind::kGc,
                                profile_.strings.intern(name)});
    found_collections_.push_back(collection);
  }
}

void SamplingSession::forget_samples() {
  profile_.samples = {};
  profile_.markers.clear();
}

void SamplingSession::leave_out_sample() {
  ++left_out_;
  ++counts_.lost;
  profile_.diagnostics.warn("samples left out: a process took too long to look at");
}

// A command may start any number of processes.  One whose main thread has ended may have others that go on,
// and is then a zombie with several threads.
void SamplingSession::forget_ended() {
  std::erase_if(ended_, [this](pid_t pid) {
    const auto threads = list_threads(pid);
    if (threads && threads->size() > 1) return false;
    processes_.erase(static_cast<std::uint64_t>(pid));
    return true;
  });
}

void SamplingSession::keep_sources() {
  std::vector<pid_t> pids;
  for (const auto& [pid, stacks] : processes_) pids.push_back(static_cast<pid_t>(pid));
  for (const pid_t pid : pids) {
    const auto read = [&](const std::string& path, std::uint64_t limit) {
      return source_files_.read(pid, pids, path, limit, profile_.diagnostics);
    };
    for (const StringId file : processes_.at(static_cast<std::uint64_t>(pid))->take_named_files())
      sources_.keep_named(profile_, file, pid, read);
  }
}

void SamplingSession::finish() {
  sampler_->stop();
  if (switches_) switches_->stop();
  poll();
  losses_.finish();
  for (const Wait& wait : waits_.end(now_ns<std::chrono::steady_clock>())) add_wait(wait);
  if (waits_.without_begin() != 0)
    profile_.diagnostics.add(Severity::kInfo, "waits that had begun before are not in the recording", {},
                             waits_.without_begin());
  // A buffer that nothing more was written to does not tell what it lost.
  const StackSampler::Totals totals = sampler_->read_totals();
  counts_.lost = std::max(counts_.lost - left_out_, totals.lost_records.value_or(0)) + left_out_;
  cpu_ns_ = totals.cpu_ns;
  profile_.lost_samples = counts_.lost;
  if (stops_ != nullptr) {
    const auto& [count, all_ns, longest_ns] = stops_->stops();
    profile_.diagnostics.info("sampled by short stops instead of perf events",
                              fmt::format("{} stops, {} in all, the longest {}", count,
                                          human_duration_ns(all_ns), human_duration_ns(longest_ns)));
  }
}

Profile SamplingSession::take_profile() {
  profile_.samples.sort_by_time();
  return std::move(profile_);
}

// Of the clock: samples, and what becomes of processes.
class SamplingSession::ClockRecords {
 public:
  ClockRecords(SamplingSession& session, const perf::Record& record) : session_(session), record_(record) {}

  void operator()(const perf::SampleRecord& sample) {
    session_.add_sample(sample, ProcessStacks::Attempt::kFirst);
  }
  void operator()(const perf::MmapRecord& mapped) {
    if (ProcessStacks* stacks = known(mapped.pid)) stacks->map(mapped.range);
  }
  void operator()(const perf::CommRecord& comm) {
    ProcessStacks* const stacks = known(comm.pid);
    if (stacks == nullptr) return;
    if (!comm.is_exec) return stacks->rename(comm.tid);
    session_.add_deferred();
    stacks->exec();
    session_.look_often(kYoungProcessNs);
    session_.note_facts(*stacks);
    session_.note_other_runtime(*stacks);
    session_.watch_loops(*stacks);
  }
  // A new process may have the pid of one that has ended.
  void operator()(const perf::ForkRecord& fork) {
    if (known(fork.pid) == nullptr) return;
    if (fork.pid == fork.parent_pid) return session_.look_often(kYoungThreadNs);
    session_.add_deferred();
    session_.processes_.erase(static_cast<std::uint64_t>(fork.pid));
  }
  void operator()(const perf::ExitRecord& exit) {
    if (exit.pid == exit.tid) session_.ended_.push_back(exit.pid);
  }
  void operator()(const perf::LostRecord& lost) { session_.add_loss(lost.count, record_); }
  void operator()(const perf::LostSamplesRecord& lost) {
    if (!lost.is_filtered) session_.add_loss(lost.count, record_);
  }
  void operator()(const perf::ThrottleRecord& throttle) {
    session_.losses_.throttle(throttle, record_.time, {});
  }
  // Asked for from the other sampler only.
  void operator()(const perf::SwitchRecord&) {}
  // /proc says in which ones a process is.
  void operator()(const perf::NamespacesRecord&) {}
  void operator()(const perf::KernelSymbolRecord& symbol) { session_.forget_kernel_frames(symbol); }
  void operator()(const perf::OtherRecord& other) { perf::note_other(other, session_.profile_.diagnostics); }

 private:
  ProcessStacks* known(std::int32_t pid) {
    const auto found = session_.processes_.find(static_cast<std::uint64_t>(pid));
    return found == session_.processes_.end() ? nullptr : found->second.get();
  }

  SamplingSession& session_;
  const perf::Record& record_;
};

// Of threads that leave a CPU and come back.  The sampler of the clock has what becomes of processes.
class SamplingSession::SwitchRecords {
 public:
  SwitchRecords(SamplingSession& session, const perf::Record& record) : session_(session), record_(record) {}

  void operator()(const perf::SampleRecord& sample) { session_.begin_wait(sample); }
  void operator()(const perf::SwitchRecord& change) {
    const auto tid = record_.origin.tid;
    if (!tid) return;
    if (change.leaves) {
      if (change.preempted) session_.waits_.preempted(*tid);
      return;
    }
    if (const auto wait = session_.waits_.come_back(*tid, static_cast<std::int64_t>(record_.time)))
      session_.add_wait(*wait);
  }
  // How long those waits were is not known.
  void operator()(const perf::LostRecord& lost) { add_lost_waits(lost.count); }
  void operator()(const perf::LostSamplesRecord& lost) {
    if (!lost.is_filtered) add_lost_waits(lost.count);
  }
  void operator()(const perf::ThrottleRecord& throttle) {
    session_.losses_.throttle(throttle, record_.time, {});
  }
  void operator()(const perf::MmapRecord&) {}
  void operator()(const perf::CommRecord&) {}
  void operator()(const perf::ForkRecord&) {}
  void operator()(const perf::ExitRecord&) {}
  void operator()(const perf::NamespacesRecord&) {}
  void operator()(const perf::KernelSymbolRecord&) {}
  void operator()(const perf::OtherRecord& other) { perf::note_other(other, session_.profile_.diagnostics); }

 private:
  void add_lost_waits(std::uint64_t count) {
    session_.profile_.diagnostics.add(Severity::kWarning, "waits were lost: this machine is too busy", {},
                                      count);
  }

  SamplingSession& session_;
  const perf::Record& record_;
};

void SamplingSession::handle(const TimedRecord& timed) {
  const auto& attributes = timed.is_of_switches ? switch_attributes_ : attributes_;
  const auto record = perf::parse_record(attributes, timed.header, timed.body);
  if (!record) return profile_.diagnostics.warn(perf::to_string(record.error()));
  if (timed.is_of_switches) return std::visit(SwitchRecords(*this, *record), record->content);
  std::visit(ClockRecords(*this, *record), record->content);
}

void SamplingSession::collect(StackSampler& sampler, const perf::EventAttributes& attributes,
                              bool is_of_switches) {
  for (const std::span<const std::byte> bytes : sampler.collect()) {
    TimedRecord record{.header = perf::load<perf::RecordHeader>(bytes, 0),
                       .body = bytes.subspan(sizeof(perf::RecordHeader)),
                       .is_of_switches = is_of_switches};
    const auto time =
        record.is_sample() ? attributes.time_of_sample(record.body) : attributes.time_of_other(record.body);
    record.time = time.value_or(0);
    batch_.push_back(record);
  }
}

void SamplingSession::begin_wait(const perf::SampleRecord& sample) {
  ProcessStacks* stacks = process(sample.pid);
  if (stacks == nullptr) return;
  ProcessStacks::Built built;
  Address stack_pointer;
  if (sample.register_abi == perf::kRegisterAbi64) {
    const RegisterSet registers = perf::registers_of(switch_attributes_[0], sample);
    stack_pointer = Address{registers.get(Register::kRsp).value_or(0)};
    built = stacks->build(registers, {stack_pointer, sample.stack}, ProcessStacks::Attempt::kLast)
                .value_or(ProcessStacks::Built{});
  }
  settle(built.summary);
  Wait wait;
  wait.begin_ns = static_cast<std::int64_t>(sample.time);
  wait.context = {stacks->thread(sample.tid, built, stack_pointer), sample.cpu, event_};
  wait.stack = push_kernel_frames(built.stack, sample);
  wait.reason = reason_of(wait.stack);
  waits_.leave(sample.tid, wait);
}

WaitReason SamplingSession::reason_of(StackId stack) const {
  std::vector<std::string_view> functions;
  for (; stack != kEmptyStack; stack = profile_.stacks.caller(stack)) {
    const Frame& frame = profile_.frames[profile_.stacks.frame(stack)];
    if (frame.kind != FrameKind::kKernel) break;
    functions.push_back(profile_.text(frame.function));
  }
  return wait_reason_of(functions);
}

void SamplingSession::add_wait(const Wait& wait) {
  Frame frame;
  frame.kind = FrameKind::kKernel;
  frame.function = profile_.strings.intern(to_frame(wait.reason));
  const StackId stack = profile_.stacks.push(wait.stack, profile_.frames.intern(frame));
  profile_.samples.add({wait.begin_ns, stack, wait.context, static_cast<std::uint64_t>(wait.duration_ns)});
}

// What a collector moved since an old sample may be where it was when a newer one was taken: all that the
// batch tells about functions counts for each of its samples.
void SamplingSession::add_deferred() {
  for (const perf::SampleRecord& sample : deferred_) add_sample(sample, ProcessStacks::Attempt::kLast);
  deferred_.clear();
}

void SamplingSession::add_sample(const perf::SampleRecord& sample, ProcessStacks::Attempt attempt) {
  ProcessStacks* stacks = process(sample.pid);
  if (stacks == nullptr || options_.time == SampledTime::kOffCpu) return;
  losses_.see_sample(sample.cpu, sample.time);
  ProcessStacks::Built built;
  Address stack_pointer;
  const bool has_user_part = sample.register_abi == perf::kRegisterAbi64;
  if (has_user_part) {
    const RegisterSet registers = perf::registers_of(attributes_[0], sample);
    stack_pointer = Address{registers.get(Register::kRsp).value_or(0)};
    auto complete = stacks->build(registers, {stack_pointer, sample.stack}, attempt);
    if (!complete) {
      deferred_.push_back(sample);
      return;
    }
    built = *complete;
  }
  settle(built.summary);
  const ThreadId thread = stacks->thread(sample.tid, built, stack_pointer);
  const StackId stack = push_kernel_frames(built.stack, sample);
  profile_.samples.add(
      {static_cast<std::int64_t>(sample.time), stack, {thread, sample.cpu, event_}, sampler_->period_ns()});
}

void SamplingSession::add_loss(std::uint64_t count, const perf::Record& record) {
  counts_.lost += count;
  profile_.lost_samples = counts_.lost;
  if (record.time != 0 && record.origin.cpu) losses_.add(record.origin, record.time, count, {});
}

void SamplingSession::forget_kernel_frames(const perf::KernelSymbolRecord& changed) {
  if (changed.is_removed) {
    kernel_.remove_generated(changed.range);
  } else {
    kernel_.add_generated(changed.range, changed.name);
  }
  kernel_frames_.clear();
}

void SamplingSession::settle(const StackSummary& summary) {
  ++(summary.complete ? counts_.complete : counts_.incomplete);
  if (summary.has_js) ++counts_.with_js;
  if (summary.has_unknown_js) ++counts_.with_unknown_js;
}

// The call chain holds only the kernel's part, innermost first.
StackId SamplingSession::push_kernel_frames(StackId stack, const perf::SampleRecord& sample) {
  const std::size_t count = sample.callchain.size() / 8;
  const auto is_marker = [&](std::size_t i) {
    return perf::load_word(sample.callchain, i) >= perf::kContextMax;
  };
  std::size_t innermost = 0;
  while (innermost < count && is_marker(innermost)) ++innermost;
  for (std::size_t i = count; i-- > innermost;) {
    if (is_marker(i)) continue;
    const Address address{perf::load_word(sample.callchain, i)};
    stack = profile_.stacks.push(stack, kernel_frame(address, i != innermost));
  }
  return stack;
}

FrameId SamplingSession::kernel_frame(Address address, bool is_return) {
  const std::uint64_t key = address.value << 1 | (is_return ? 1u : 0u);
  const auto known = kernel_frames_.find(key);
  if (known != kernel_frames_.end()) return known->second;
  const auto resolve = [&](Address place) { return kernel_.resolve(place); };
  const auto name_of = [](const auto& answer) { return answer ? answer->name : std::string_view(); };
  const auto answer = is_return ? resolve_caller(address, resolve, name_of) : resolve(address);
  Frame frame = frame_of_symbol(profile_, name_of(answer),
                                answer ? answer->module : std::string_view("[kernel.kallsyms]"));
  frame.kind = FrameKind::kKernel;
  const FrameId id = profile_.frames.intern(frame);
  if (kernel_frames_.size() >= kMaxKernelFrames) kernel_frames_.clear();
  kernel_frames_.emplace(key, id);
  return id;
}

}  // namespace nodescope
