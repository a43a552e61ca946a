#include "capture/sampling_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>

#include "base/text.h"
#include "capture/process_sources.h"
#include "formats/perf_data/abi.h"
#include "formats/perf_data/words.h"
#include "formats/symbol_name.h"
#include "model/name_marks.h"
#include "model/turns.h"
#include "model/waiting.h"
#include "os/interrupt.h"
#include "os/process.h"
#include "os/procfs.h"
#include "target/invocation.h"
#include "target/live_process.h"

namespace nodescope {

namespace {

constexpr std::size_t kHeaderBytes = sizeof(perf::RecordHeader);
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

// Between who asked for work and the thread that does it.
constexpr std::string_view kPoolFrame = "[libuv's pool]";

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
    : options_(options),
      sampler_({.frequency_hz = options.time == SampledTime::kOffCpu ? kTrackingHz : options.frequency_hz,
                .follow_children = options.follow_children}),
      kernel_(&files_, search_, profile_.diagnostics) {
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
  if (options_.async_callers) profile_.facts[std::string(kAsyncFact)] = "shown";
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
  return sampler_.attach(pid);
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
  return sampler_.attach_before_exec(pid);
}

// All events have the same attribute, as far as records depend on it.
void SamplingSession::learn_attribute() {
  sampler_.settle_features();
  if (auto attribute = perf::EventAttribute::parse(sampler_.attribute()))
    attributes_.add(std::move(*attribute), {});
  if (switches_) {
    switches_->settle_features();
    if (auto attribute = perf::EventAttribute::parse(switches_->attribute()))
      switch_attributes_.add(std::move(*attribute), {});
  }
  // The kernel's symbols take a twentieth of a second to read: while that goes on, samples would grow old.
  if (sampler_.sees_kernel()) {
    kernel_.resolve(Address{});
  } else {
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
  watch_loops(*stacks);
  return processes_.emplace(static_cast<std::uint64_t>(pid), std::move(stacks)).first->second.get();
}

void SamplingSession::look_often(std::int64_t for_ns) {
  young_until_ns_ = std::max(young_until_ns_, now_ns<std::chrono::steady_clock>() + for_ns);
}

int SamplingSession::poll_milliseconds() const {
  constexpr unsigned kFewSamples = 200;
  if (options_.async_callers) return 1;
  if (now_ns<std::chrono::steady_clock>() < young_until_ns_) return 5;
  return options_.frequency_hz <= kFewSamples ? 75 : 25;
}

void SamplingSession::poll() {
  batch_.clear();
  // The samples of a turn that has ended are in the buffers.
  const auto turns = loops_ ? loops_->take_turns() : std::vector<LoopTurn>();
  collect(sampler_, attributes_, false);
  if (switches_) collect(*switches_, switch_attributes_, true);
  batch_has_begun_ = false;
  const auto build = [this](pid_t pid, const RegisterSet& registers, StackSnapshot snapshot) {
    return stack_at_probe(pid, registers, snapshot);
  };
  // After the buffers: what they tell of was asked for before.
  pool_work_.collect(build);
  if (!batch_.empty()) {
    std::ranges::stable_sort(batch_, {}, &TimedRecord::time);
    begin_batch();
    const WorkBudget budget;
    for (const TimedRecord& record : batch_) {
      const bool is_sample =
          perf::load<perf::RecordHeader>(record.bytes, 0).type == perf::RecordType::kSample;
      if (record.is_of_switches) {
        handle_switch(record.bytes);
      } else if (is_sample && budget.is_used_up()) {
        leave_out_sample();
      } else {
        handle(record.bytes);
      }
    }
    if (!budget.is_used_up()) add_deferred();
    for (std::size_t i = 0; i < deferred_.size(); ++i) leave_out_sample();
    deferred_.clear();
    // At once: the process may end, with the folders that only it had.
    if (options_.keep_sources) keep_sources();
    forget_ended();
  }
  sampler_.release();
  if (switches_) switches_->release();
  add_turns(turns);
  add_full_pools();
  add_collections(build);
}

// The memory may have changed since the last round.
void SamplingSession::begin_batch() {
  if (std::exchange(batch_has_begun_, true)) return;
  for (auto& [pid, stacks] : processes_) stacks->begin_batch();
}

void SamplingSession::watch_loops(const ProcessStacks& process) {
  if (process.view() == nullptr || process.view()->layout() == nullptr) return;
  const pid_t pid = process.view()->process().pid();
  if (loops_ != nullptr) loops_->watch(pid);
  if (options_.time == SampledTime::kOnCpu) return;
  const auto watched = pool_work_.watch(pid);
  if (!watched && watched.error().code != ErrorCode::kNotFound)
    profile_.diagnostics.info("who asked for the work of libuv's pool is not known", watched.error().message);
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

// They are of a process: its main thread stands for it.
void SamplingSession::add_full_pools() {
  if (loops_ == nullptr) return;
  for (FullPool& pool : loops_->take_full_pools()) {
    profile_.markers.push_back(
        {static_cast<std::int64_t>(pool.begin_ns), static_cast<std::int64_t>(pool.duration_ns()),
         thread_of({pool.pid, pool.pid}), MarkerKind::kOther, profile_.strings.intern(describe(pool))});
    found_pools_.push_back(std::move(pool));
  }
}

void SamplingSession::add_collections(const CollectionWatch::BuildStack& build) {
  if (loops_ == nullptr) return;
  for (const LoopThread& thread : loops_->take_found()) {
    const auto watched = collections_.watch(thread.pid, thread.tid);
    // They are in the samples all the same.
    if (!watched && watched.error().code != ErrorCode::kNotFound)
      profile_.diagnostics.info("pauses of the collector are seen in samples only", watched.error().message);
  }
  for (const Collection& collection : collections_.take(build)) {
    const ThreadId thread = thread_of({collection.pid, collection.tid});
    const std::string name = describe_collection(profile_, collection);
    profile_.markers.push_back({static_cast<std::int64_t>(collection.begin_ns),
                                static_cast<std::int64_t>(collection.duration_ns()), thread, MarkerKind::kGc,
                                profile_.strings.intern(name)});
    found_collections_.push_back(collection);
  }
}

// The heap is that of a moment later: the collection that begins there has moved much of it.
StackId SamplingSession::stack_at_probe(pid_t pid, const RegisterSet& registers, StackSnapshot snapshot) {
  const auto known = processes_.find(static_cast<std::uint64_t>(pid));
  if (known == processes_.end()) return kEmptyStack;
  begin_batch();
  const auto built = known->second->build(registers, snapshot, ProcessStacks::Attempt::kLast);
  return built ? built->stack : kEmptyStack;
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
  sampler_.stop();
  if (switches_) switches_->stop();
  if (loops_) loops_->finish();
  poll();
  for (const Wait& wait : waits_.end(now_ns<std::chrono::steady_clock>())) add_wait(wait);
  if (waits_.without_begin() != 0)
    profile_.diagnostics.add(Severity::kInfo, "waits that had begun before are not in the recording", {},
                             waits_.without_begin());
  // A buffer that nothing more was written to does not tell what it lost.
  const PerfSampler::Totals totals = sampler_.read_totals();
  counts_.lost = std::max(counts_.lost - left_out_, totals.lost_records.value_or(0)) + left_out_;
  cpu_ns_ = totals.cpu_ns;
  profile_.lost_samples = counts_.lost;
}

Profile SamplingSession::take_profile() {
  profile_.samples.sort_by_time();
  return std::move(profile_);
}

void SamplingSession::handle(std::span<const std::byte> record) {
  const auto header = perf::load<perf::RecordHeader>(record, 0);
  const auto body = record.subspan(kHeaderBytes);
  const auto pid = perf::load_or_zero<std::int32_t>(body, 0);
  const auto known = processes_.find(static_cast<std::uint64_t>(pid));
  switch (header.type) {
    case perf::RecordType::kSample:
      add_sample(body, ProcessStacks::Attempt::kFirst);
      break;
    case perf::RecordType::kLost:
      add_loss(body);
      break;
    case perf::RecordType::kComm:
      if (known == processes_.end()) break;
      if ((header.misc & perf::kMiscCommExec) != 0) {
        add_deferred();
        known->second->exec();
        look_often(kYoungProcessNs);
        note_facts(*known->second);
        watch_loops(*known->second);
      } else {
        known->second->rename(perf::load_or_zero<std::int32_t>(body, 4));
      }
      break;
    case perf::RecordType::kFork:
      // A new process may have the pid of one that has ended.
      if (known == processes_.end()) break;
      if (pid == perf::load_or_zero<std::int32_t>(body, 4)) {
        look_often(kYoungThreadNs);
        break;
      }
      add_deferred();
      processes_.erase(static_cast<std::uint64_t>(pid));
      break;
    case perf::RecordType::kExit:
      if (pid == perf::load_or_zero<std::int32_t>(body, 8)) ended_.push_back(pid);
      break;
    case perf::RecordType::kMmap:
    case perf::RecordType::kMmap2: {
      if (known == processes_.end()) break;
      const Address begin{perf::load_or_zero<std::uint64_t>(body, 8)};
      known->second->map({begin, begin + perf::load_or_zero<std::uint64_t>(body, 16)});
      break;
    }
    default:
      break;
  }
}

void SamplingSession::collect(PerfSampler& sampler, const perf::EventAttributes& attributes,
                              bool is_of_switches) {
  for (const std::span<const std::byte> record : sampler.collect()) {
    const auto body = record.subspan(kHeaderBytes);
    const auto header = perf::load<perf::RecordHeader>(record, 0);
    const auto time = header.type == perf::RecordType::kSample ? attributes.time_of_sample(body)
                                                               : attributes.time_of_other(body);
    batch_.push_back({time.value_or(0), record, is_of_switches});
  }
}

void SamplingSession::handle_switch(std::span<const std::byte> record) {
  const auto header = perf::load<perf::RecordHeader>(record, 0);
  const auto body = record.subspan(kHeaderBytes);
  if (header.type == perf::RecordType::kSample) return begin_wait(body);
  if (header.type == perf::RecordType::kLost) {
    // How long those waits were is not known.
    profile_.diagnostics.add(Severity::kWarning, "waits were lost: this machine is too busy", {},
                             perf::load_or_zero<std::uint64_t>(body, 8));
    return;
  }
  if (header.type != perf::RecordType::kSwitch) return;
  const auto tid = switch_attributes_.origin_of_other(body).tid;
  if (!tid) return;
  if ((header.misc & perf::kMiscSwitchOut) != 0) {
    if ((header.misc & perf::kMiscSwitchOutPreempt) != 0) waits_.preempted(*tid);
    return;
  }
  const auto time = switch_attributes_.time_of_other(body);
  if (const auto wait = waits_.come_back(*tid, static_cast<std::int64_t>(time.value_or(0)))) add_wait(*wait);
}

void SamplingSession::begin_wait(std::span<const std::byte> body) {
  const auto sample = perf::SampleRecord::parse(switch_attributes_[0], body);
  ProcessStacks* stacks = sample ? process(sample->pid) : nullptr;
  if (stacks == nullptr) return;
  ProcessStacks::Built built;
  Address stack_pointer;
  if (sample->register_abi == perf::kRegisterAbi64) {
    const RegisterSet registers = perf::registers_of(switch_attributes_[0], *sample);
    stack_pointer = Address{registers.get(Register::kRsp).value_or(0)};
    built = stacks->build(registers, {stack_pointer, sample->stack}, ProcessStacks::Attempt::kLast)
                .value_or(ProcessStacks::Built{});
  }
  settle(built.summary);
  Wait wait;
  wait.begin_ns = static_cast<std::int64_t>(sample->time);
  wait.context = {stacks->thread(sample->tid, built, stack_pointer), sample->cpu, event_};
  const StackId stack = below_request(built.stack, *sample, {stack_pointer, sample->stack});
  wait.stack = push_kernel_frames(stack, *sample);
  wait.reason = reason_of(wait.stack);
  waits_.leave(sample->tid, wait);
}

// What a thread of libuv's pool does stands below whoever asked for it, as far as that is known.
StackId SamplingSession::below_request(StackId stack, const perf::SampleRecord& sample,
                                       StackSnapshot snapshot) {
  if (!pool_work_.watches()) return stack;
  const std::vector<FrameId> frames = profile_.stacks.unwind(stack);
  const auto work = std::ranges::find_if(frames, [this](FrameId id) {
    const Frame& frame = profile_.frames[id];
    return frame.kind == FrameKind::kNative && is_pool_work(profile_.text(frame.function));
  });
  if (work == frames.end()) return stack;
  const StackId asked = pool_work_.asked_by(sample.pid, sample.tid, sample.time, snapshot);
  if (asked == kEmptyStack) return stack;
  Frame pool;
  pool.kind = FrameKind::kNative;
  pool.function = profile_.strings.intern(kPoolFrame);
  StackId below = profile_.stacks.push(asked, profile_.frames.intern(pool));
  for (auto frame = work; frame != frames.end(); ++frame) below = profile_.stacks.push(below, *frame);
  return below;
}

WaitReason SamplingSession::reason_of(StackId stack) const {
  const auto frame = [&]() -> const Frame& { return profile_.frames[profile_.stacks.frame(stack)]; };
  std::vector<std::string_view> functions;
  for (; stack != kEmptyStack && frame().kind == FrameKind::kKernel; stack = profile_.stacks.caller(stack))
    functions.push_back(profile_.text(frame().function));
  const WaitReason reason = wait_reason_of(functions);
  if (reason != WaitReason::kEventLoop && reason != WaitReason::kSocket) return reason;
  for (; stack != kEmptyStack && frame().kind == FrameKind::kNative; stack = profile_.stacks.caller(stack)) {
    if (const auto told = reason_of_events(profile_.text(frame().function))) return *told;
  }
  return reason;
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
  for (const std::span<const std::byte> body : deferred_) add_sample(body, ProcessStacks::Attempt::kLast);
  deferred_.clear();
}

void SamplingSession::add_sample(std::span<const std::byte> body, ProcessStacks::Attempt attempt) {
  const auto sample = perf::SampleRecord::parse(attributes_[0], body);
  if (!sample) {
    profile_.diagnostics.warn("sample of the kernel is not understood");
    return;
  }
  ProcessStacks* stacks = process(sample->pid);
  if (stacks == nullptr || options_.time == SampledTime::kOffCpu) return;
  std::int64_t& last_time = last_times_[static_cast<std::uint32_t>(sample->cpu)];
  last_time = std::max(last_time, static_cast<std::int64_t>(sample->time));
  ProcessStacks::Built built;
  Address stack_pointer;
  const bool has_user_part = sample->register_abi == perf::kRegisterAbi64;
  if (has_user_part) {
    const RegisterSet registers = perf::registers_of(attributes_[0], *sample);
    stack_pointer = Address{registers.get(Register::kRsp).value_or(0)};
    auto complete = stacks->build(registers, {stack_pointer, sample->stack}, attempt);
    if (!complete) {
      deferred_.push_back(body);
      return;
    }
    built = *complete;
  }
  settle(built.summary);
  const ThreadId thread = stacks->thread(sample->tid, built, stack_pointer);
  const StackId user = below_request(built.stack, *sample, {stack_pointer, sample->stack});
  const StackId stack = push_kernel_frames(user, *sample);
  profile_.samples.add(
      {static_cast<std::int64_t>(sample->time), stack, {thread, sample->cpu, event_}, sampler_.period_ns()});
}

// A buffer is of one thread on one processor.  The kernel tells when it had room again; the last sample
// before is when it still had.
void SamplingSession::add_loss(std::span<const std::byte> body) {
  const auto lost = perf::load_or_zero<std::uint64_t>(body, 8);
  counts_.lost += lost;
  profile_.lost_samples = counts_.lost;
  const auto end = static_cast<std::int64_t>(attributes_.time_of_other(body).value_or(0));
  const perf::RecordOrigin origin = attributes_.origin_of_other(body);
  if (end == 0 || !origin.cpu) return;
  const auto last = last_times_.find(*origin.cpu);
  const std::int64_t begin = last != last_times_.end() ? std::min(last->second, end) : end;
  profile_.markers.push_back({begin, end - begin, ThreadId{}, MarkerKind::kLost,
                              profile_.strings.intern(fmt::format("{} lost", lost))});
}

void SamplingSession::settle(const StackSummary& summary) {
  ++(summary.complete ? counts_.complete : counts_.incomplete);
  if (summary.has_js) ++counts_.with_js;
  if (summary.has_unknown_js) ++counts_.with_unknown_js;
}

// The call chain holds only the kernel's part, innermost first.
StackId SamplingSession::push_kernel_frames(StackId stack, const perf::SampleRecord& sample) {
  for (std::size_t i = sample.callchain.size() / 8; i-- > 0;) {
    const std::uint64_t address = perf::load_word(sample.callchain, i);
    if (address >= perf::kContextMax) continue;
    // All but the innermost are behind a call.
    const bool innermost = address == sample.ip;
    stack = profile_.stacks.push(stack, kernel_frame(Address{innermost ? address : address - 1}));
  }
  return stack;
}

FrameId SamplingSession::kernel_frame(Address address) {
  const auto known = kernel_frames_.find(address.value);
  if (known != kernel_frames_.end()) return known->second;
  const auto answer = kernel_.resolve(address);
  Frame frame = frame_of_symbol(profile_, answer ? answer->name : std::string_view(),
                                answer ? answer->module : std::string_view("[kernel.kallsyms]"));
  frame.kind = FrameKind::kKernel;
  const FrameId id = profile_.frames.intern(frame);
  if (kernel_frames_.size() >= kMaxKernelFrames) kernel_frames_.clear();
  kernel_frames_.emplace(address.value, id);
  return id;
}

}  // namespace nodescope
