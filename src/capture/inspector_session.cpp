#include "capture/inspector_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <utility>

#include "base/byte_source.h"
#include "base/text.h"
#include "capture/inspector_message.h"
#include "formats/format.h"
#include "model/append.h"
#include "os/procfs.h"
#include "target/live_process.h"

namespace nodescope {

namespace {

// V8 builds the whole tree when it is asked for the result, and the program may be in a system call.
constexpr std::chrono::milliseconds kResultTime{60'000};
constexpr std::size_t kMaxProfiledWorkers = 1'000;

// From the clock of V8's times, which begins with the machine, to 1970.
std::int64_t wall_clock_offset_ns() {
  const auto now = [](clockid_t clock) {
    timespec time{};
    ::clock_gettime(clock, &time);
    return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
  };
  return now(CLOCK_REALTIME) - now(CLOCK_MONOTONIC);
}

struct Command {
  std::string method;
  std::string params = "{}";
};

std::vector<Command> commands_to_start(const InspectorOptions& options) {
  switch (options.profile) {
    case InspectorProfile::kCpu:
      return {{"Profiler.enable"},
              {"Profiler.setSamplingInterval",
               fmt::format(R"({{"interval":{}}})", std::max(1u, 1'000'000 / options.frequency_hz))},
              {"Profiler.start"}};
    case InspectorProfile::kAllocations:
      return {{"HeapProfiler.startSampling"}};
    case InspectorProfile::kCoverage:
      return {{"Profiler.enable"},
              {"Profiler.startPreciseCoverage", R"({"callCount":true,"detailed":true})"}};
  }
  return {};
}

std::string command_with_result(InspectorProfile profile) {
  switch (profile) {
    case InspectorProfile::kCpu:
      return "Profiler.stop";
    case InspectorProfile::kAllocations:
      return "HeapProfiler.stopSampling";
    case InspectorProfile::kCoverage:
      return "Profiler.takePreciseCoverage";
  }
  return {};
}

// What is still on when the result is there.
std::vector<Command> commands_to_end(InspectorProfile profile) {
  switch (profile) {
    case InspectorProfile::kCpu:
      return {{"Profiler.disable"}};
    case InspectorProfile::kAllocations:
      return {};
    case InspectorProfile::kCoverage:
      return {{"Profiler.stopPreciseCoverage"}, {"Profiler.disable"}};
  }
  return {};
}

// A reply that is being waited for.
struct Awaited {
  InspectorCall call;
  InspectedThread thread;
  pid_t tid = 0;
};

}  // namespace

struct InspectorSession::Target {
  Target(pid_t process, InspectorGate way, InspectorClient talk, std::size_t place)
      : pid(process), gate(std::move(way)), client(std::move(talk)), index(place) {}

  pid_t pid;
  InspectorGate gate;
  InspectorClient client;
  std::size_t index;  // in processes_
  std::size_t started_workers = 0;
  bool connected = true;
  bool is_ending = false;  // Node.js waits with the end of the process until we have left
  bool collected = false;
};

InspectorSession::InspectorSession(const InspectorOptions& options) : options_(options) {}

InspectorSession::~InspectorSession() {
  finish();
}

Result<void> InspectorSession::attach(pid_t pid) {
  auto gate = InspectorGate::open(pid, options_.port);
  if (!gate) return std::unexpected(gate.error());
  auto client = gate->connect();
  if (!client) return std::unexpected(client.error());
  return begin(pid, std::move(*gate), std::move(*client));
}

Result<void> InspectorSession::attach(const InspectorAddress& address) {
  auto gate = InspectorGate::at(address);
  if (!gate) return std::unexpected(gate.error());
  auto client = gate->connect();
  if (!client) return std::unexpected(client.error());
  return begin(0, std::move(*gate), std::move(*client));
}

Result<void> InspectorSession::begin(pid_t pid, InspectorGate gate, InspectorClient client) {
  InspectedProcess process;
  process.pid = pid;
  process.address = host_with_port(gate.address());
  process.opened = gate.opened_by_us();
  process.was_left_open = gate.was_left_open();
  process.opened_workers = gate.opened_workers();
  auto target = std::make_unique<Target>(pid, std::move(gate), std::move(client), processes_.size());
  if (auto started = start(*target); !started) return started;
  processes_.push_back(std::move(process));
  targets_.push_back(std::move(target));
  return {};
}

Result<void> InspectorSession::start(Target& target) {
  profile_.clock_offset_ns = wall_clock_offset_ns();
  target.client.on_event([&target](std::string_view method, const std::string&) {
    if (method == "NodeRuntime.waitingForDisconnect") target.is_ending = true;
    return EventUse::kNone;
  });
  // So that it waits for nothing more than its profile.  Others than Node.js do not know it.
  target.client.tell("NodeRuntime.notifyWhenWaitingForDisconnect", R"({"enabled":true})");
  for (const Command& command : commands_to_start(options_)) {
    if (auto done = target.client.call(command.method, command.params); !done)
      return std::unexpected(done.error());
  }
  // A peer without workers' sessions, such as Deno, still has its main thread.
  if (target.client.follow_workers()) start_new_workers(target);
  return {};
}

// Nobody waits for their replies: a worker may be blocked, and the others are to begin now.  What went wrong
// is seen when the result is asked for.
void InspectorSession::start_new_workers(Target& target) {
  const auto& workers = target.client.workers();
  for (; target.started_workers < std::min(workers.size(), kMaxProfiledWorkers); ++target.started_workers) {
    const InspectedWorker worker = workers[target.started_workers];
    if (worker.ended) continue;
    for (const Command& command : commands_to_start(options_))
      target.client.tell(command.method, command.params, worker.session);
  }
}

void InspectorSession::poll() {
  for (const auto& target : targets_) {
    if (!target->connected) continue;
    target->connected = target->client.poll().has_value();
    if (target->is_ending) {
      leave(*target);
    } else if (target->connected) {
      start_new_workers(*target);
    }
  }
}

bool InspectorSession::has_targets() const {
  return std::ranges::any_of(targets_, &Target::connected);
}

std::size_t InspectorSession::thread_count() const {
  std::size_t count = 0;
  for (const auto& target : targets_) {
    count += 1 + static_cast<std::size_t>(
                     std::ranges::count(target->client.workers(), false, &InspectedWorker::ended));
  }
  return count;
}

Result<void> InspectorSession::take_profile_of(const InspectedThread& thread, pid_t tid,
                                               const std::string& reply) {
  auto profile = read_profile(std::make_unique<MemorySource>(reply, "the inspector's profile"), {});
  if (!profile) return std::unexpected(profile.error());
  const ProcessId process = profile_.intern_process(thread.pid, thread.process);
  append_as(profile_, *profile, profile_.intern_thread(process, tid, thread.name));
  const auto text = options_.keep_originals ? text_in_result(reply, "profile") : std::nullopt;
  if (text) originals_.push_back({thread, std::string(*text)});
  return {};
}

Result<void> InspectorSession::take(const InspectedThread& thread, pid_t tid, const std::string& reply) {
  if (options_.profile != InspectorProfile::kCoverage) return take_profile_of(thread, tid, reply);
  auto scripts = parse_coverage(reply);
  if (!scripts) return std::unexpected(scripts.error());
  coverage_.push_back({thread, std::move(*scripts)});
  return {};
}

// All threads are asked at once, so that they end together and one that is blocked keeps nobody waiting.
void InspectorSession::collect(Target& target) {
  InspectedProcess& process = processes_[target.index];
  InspectorClient& client = target.client;
  const std::string method = command_with_result(options_.profile);
  const std::string name = target.pid == 0 ? process.address : thread_name(target.pid, target.pid);
  std::vector<Awaited> awaited;
  const auto ask = [&](const std::string& thread, pid_t tid, const std::string& worker) {
    auto call = client.send(method, "{}", worker);
    if (call) awaited.push_back({std::move(*call), {target.pid, name, thread}, tid});
    if (!call && worker.empty()) process.failure = call.error().message;
  };
  ask("main", target.pid, {});
  if (awaited.empty()) return;
  const auto workers = client.workers();
  for (std::size_t i = 0; i < std::min(workers.size(), target.started_workers); ++i) {
    if (workers[i].ended) {
      profile_.diagnostics.warn("a worker ended, and V8 lost its profile with it",
                                printable(workers[i].title));
    } else {
      // The inspector does not say which thread of the system it is.
      ask(workers[i].title, 0, workers[i].session);
    }
  }
  const auto end = std::chrono::steady_clock::now() + kResultTime;
  for (const Awaited& one : awaited) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    auto reply = client.await(one.call, std::max(left, std::chrono::milliseconds(1)));
    auto taken = reply ? take(one.thread, one.tid, *reply) : std::unexpected(reply.error());
    if (taken) {
      ++process.threads;
    } else if (one.call.worker.empty()) {
      process.failure = taken.error().message;
      return;
    } else {
      profile_.diagnostics.warn("the profile of a worker is missing",
                                fmt::format("{}: {}", printable(one.thread.name), taken.error().message));
    }
  }
  for (const Command& command : commands_to_end(options_.profile)) {
    for (const Awaited& one : awaited) {
      if (!one.call.worker.empty()) client.tell(command.method, command.params, one.call.worker);
    }
    [[maybe_unused]] const auto done = client.call(command.method, command.params);
  }
  client.tell("NodeWorker.disable");
}

void InspectorSession::leave(Target& target) {
  if (std::exchange(target.collected, true)) return;
  collect(target);
  target.client.close();
  target.connected = false;
  if (target.is_ending) target.gate.expect_end();
}

void InspectorSession::finish() {
  for (const auto& target : targets_) {
    InspectedProcess& process = processes_[target->index];
    leave(*target);
    if (auto closed = target->gate.close(); !closed) process.failure = closed.error().message;
    process.open_time = target->gate.open_time();
  }
  targets_.clear();
  profile_.samples.sort_by_time();
}

}  // namespace nodescope
