#include "capture/inspector_session.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "base/byte_source.h"
#include "base/text.h"
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

std::string host_and_port(const InspectorAddress& address) {
  return fmt::format("{}:{}", address.host, address.port);
}

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
};

InspectorSession::InspectorSession(const InspectorOptions& options) : options_(options) {}

InspectorSession::~InspectorSession() {
  finish();
}

Result<void> InspectorSession::attach(pid_t pid) {
  auto gate = InspectorGate::open(pid);
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
  process.address = host_and_port(gate.address());
  process.opened = gate.opened_by_us();
  auto target = std::make_unique<Target>(pid, std::move(gate), std::move(client), processes_.size());
  if (auto started = start(*target); !started) return started;
  processes_.push_back(std::move(process));
  targets_.push_back(std::move(target));
  return {};
}

Result<void> InspectorSession::start(Target& target) {
  profile_.clock_offset_ns = wall_clock_offset_ns();
  if (auto started = start_profiler(target, {}); !started) return started;
  // A peer without workers' sessions, such as Deno, still has its main thread.
  if (target.client.follow_workers()) start_new_workers(target);
  return {};
}

Result<void> InspectorSession::start_profiler(Target& target, const std::string& worker) {
  InspectorClient& client = target.client;
  const auto call = [&](std::string_view method, const std::string& params) -> Result<void> {
    const auto done = client.call(method, params, InspectorClient::kCallTime, worker);
    if (!done) return std::unexpected(done.error());
    return {};
  };
  if (options_.profile == InspectorProfile::kAllocations) return call("HeapProfiler.startSampling", "{}");
  if (auto enabled = call("Profiler.enable", "{}"); !enabled) return enabled;
  const std::string interval =
      fmt::format(R"({{"interval":{}}})", std::max(1u, 1'000'000 / options_.frequency_hz));
  if (auto set = call("Profiler.setSamplingInterval", interval); !set) return set;
  return call("Profiler.start", "{}");
}

void InspectorSession::start_new_workers(Target& target) {
  const auto& workers = target.client.workers();
  for (; target.started_workers < std::min(workers.size(), kMaxProfiledWorkers); ++target.started_workers) {
    const InspectedWorker worker = workers[target.started_workers];
    if (worker.ended) continue;
    if (auto started = start_profiler(target, worker.session); !started) {
      profile_.diagnostics.warn("a worker could not be profiled",
                                fmt::format("{}: {}", printable(worker.title), started.error().message));
    }
  }
}

void InspectorSession::poll() {
  for (const auto& target : targets_) {
    if (!target->connected) continue;
    target->connected = target->client.poll().has_value();
    if (target->connected) start_new_workers(*target);
  }
}

bool InspectorSession::has_targets() const {
  return std::ranges::any_of(targets_, &Target::connected);
}

Result<void> InspectorSession::collect_thread(Target& target, const std::string& worker,
                                              const std::string& name) {
  const bool is_cpu = options_.profile == InspectorProfile::kCpu;
  const auto reply =
      target.client.call(is_cpu ? "Profiler.stop" : "HeapProfiler.stopSampling", "{}", kResultTime, worker);
  if (!reply) return std::unexpected(reply.error());
  if (is_cpu) (void)target.client.call("Profiler.disable", "{}", InspectorClient::kCallTime, worker);
  auto profile = read_profile(std::make_unique<MemorySource>(*reply, "the inspector's profile"), {});
  if (!profile) return std::unexpected(profile.error());
  const std::string process_name =
      target.pid == 0 ? processes_[target.index].address : thread_name(target.pid, target.pid);
  const ProcessId process = profile_.intern_process(target.pid, process_name);
  // The inspector does not say which thread of the system it is.
  const std::int32_t tid = worker.empty() ? target.pid : 0;
  append_as(profile_, *profile, profile_.intern_thread(process, tid, name));
  ++processes_[target.index].threads;
  return {};
}

void InspectorSession::collect(Target& target) {
  InspectedProcess& process = processes_[target.index];
  if (auto collected = collect_thread(target, {}, "main"); !collected) {
    process.failure = collected.error().message;
    return;
  }
  const auto workers = target.client.workers();
  for (std::size_t i = 0; i < std::min(workers.size(), target.started_workers); ++i) {
    if (workers[i].ended) {
      profile_.diagnostics.warn("a worker ended, and V8 lost its profile with it",
                                printable(workers[i].title));
      continue;
    }
    if (auto collected = collect_thread(target, workers[i].session, workers[i].title); !collected) {
      profile_.diagnostics.warn(
          "the profile of a worker is missing",
          fmt::format("{}: {}", printable(workers[i].title), collected.error().message));
    }
  }
  (void)target.client.call("NodeWorker.disable");
}

void InspectorSession::finish() {
  for (const auto& target : targets_) {
    InspectedProcess& process = processes_[target->index];
    collect(*target);
    target->client.close();
    if (auto closed = target->gate.close(); !closed) process.failure = closed.error().message;
    process.open_time = target->gate.open_time();
  }
  targets_.clear();
  profile_.samples.sort_by_time();
}

}  // namespace nodescope
