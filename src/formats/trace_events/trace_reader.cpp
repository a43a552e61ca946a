#include "formats/trace_events/trace_reader.h"

#include <fmt/format.h>

#include <algorithm>

namespace nodescope {

namespace {

constexpr int kMicrosecondDecimals = 3;  // from microseconds to nanoseconds

std::int64_t to_ns(const std::optional<json::Number>& time) {
  return time ? time->scaled(kMicrosecondDecimals) : 0;
}

// Thread ids beyond 32 bits are not seen on Linux; elsewhere their low bits still tell threads apart.
std::int32_t to_id(const std::optional<json::Number>& number) {
  return static_cast<std::int32_t>(number ? number->rounded() : 0);
}

void read_text(json::Reader& reader, std::string& into) {
  into = reader.string().value_or("");
}

}  // namespace

TraceReader::TraceReader(ByteSource& source, Progress* progress)
    : source_(source), reader_(source, progress) {}

Result<Profile> TraceReader::read() {
  if (reader_.peek() == json::Type::kArray) {
    read_events();
  } else {
    auto members = reader_.object();
    while (const auto key = members.next()) {
      if (*key == "traceEvents") read_events();
    }
  }
  // The format lets the closing bracket be missing: a program that is killed cannot write it.
  const bool cut_between_events = reader_.truncated() && !in_event_ && events_ != 0;
  if (cut_between_events) {
    profile_.diagnostics.info("the trace has no end, as after a killed program");
  } else if (const auto finished = reader_.finish(profile_.diagnostics, events_ != 0); !finished) {
    return std::unexpected(finished.error());
  }
  const bool has_run = std::ranges::any_of(runs_, [](const TracedRun& run) { return !run.tree.empty(); });
  if (!has_run) {
    return fail(ErrorCode::kInvalidInput,
                fmt::format("{}: no CPU profile in {} trace events{}. Let the program itself begin with "
                            "require('trace_events').createTracing({{categories: ['v8', "
                            "'disabled-by-default-v8.cpu_profiler']}}).enable(): node's option "
                            "--trace-event-categories records no profile of the main thread",
                            source_.name(), events_,
                            gc_markers_.empty() ? "" : ", only pauses of the garbage collector"));
  }
  build();
  return std::move(profile_);
}

// ---------------------------------------------------------------- reading

void TraceReader::read_events() {
  auto elements = reader_.array();
  while (elements.next()) {
    if (reader_.peek() != json::Type::kObject) continue;
    in_event_ = true;
    read_event();
    if (reader_.failed()) return;
    in_event_ = false;
    ++events_;
    use_event();
  }
}

void TraceReader::read_event() {
  clear_event();
  auto members = reader_.object();
  while (const auto key = members.next()) read_member(*key);
}

void TraceReader::read_member(std::string_view key) {
  if (key == "name") {
    read_text(reader_, event_.name);
  } else if (key == "ph") {
    const auto phase = reader_.string();
    event_.phase = phase && phase->size() == 1 ? phase->front() : '\0';
  } else if (key == "ts") {
    event_.time_ns = to_ns(reader_.number());
  } else if (key == "dur") {
    event_.duration_ns = to_ns(reader_.number());
  } else if (key == "pid") {
    event_.thread.pid = to_id(reader_.number());
  } else if (key == "tid") {
    event_.thread.tid = to_id(reader_.number());
  } else if (key == "id") {
    read_id();
  } else if (key == "args") {
    read_arguments();
  }
}

void TraceReader::read_id() {
  if (reader_.peek() == json::Type::kNumber) {
    const auto number = reader_.number();
    event_.id = fmt::format("{}", number ? number->rounded() : 0);
  } else {
    read_text(reader_, event_.id);
  }
}

void TraceReader::read_arguments() {
  if (reader_.peek() != json::Type::kObject) return;
  auto members = reader_.object();
  while (const auto key = members.next()) {
    const json::Type type = reader_.peek();
    if (*key == "name" && type == json::Type::kString) {
      read_text(reader_, event_.name_argument);
    } else if (*key == "node" && type == json::Type::kString) {
      read_text(reader_, event_.node_argument);
    } else if (*key == "data" && type == json::Type::kObject) {
      read_data();
    }
  }
}

void TraceReader::read_data() {
  auto members = reader_.object();
  while (const auto key = members.next()) {
    if (*key == "cpuProfile" && reader_.peek() == json::Type::kObject) {
      read_cpu_profile();
    } else {
      read_chunk_member(*key);
    }
  }
}

void TraceReader::read_cpu_profile() {
  auto members = reader_.object();
  while (const auto key = members.next()) {
    if (*key == "nodes") {
      event_.chunk.tree.read(reader_, profile_);
    } else if (*key == "samples") {
      reader_.numbers([&](const auto& id) { event_.chunk.samples.push_back(to_node_id(id)); });
    } else {
      read_chunk_member(*key);
    }
  }
}

// What stands in the data of a chunk today and in the CPU profile itself in "CpuProfile".  Other events have
// members of the same names with other types.
void TraceReader::read_chunk_member(std::string_view key) {
  const json::Type type = reader_.peek();
  if (key == "timeDeltas" && type == json::Type::kArray) {
    reader_.numbers([&](const auto& delta) { event_.chunk.deltas_ns.push_back(to_ns(delta)); });
  } else if (key == "startTime" && type == json::Type::kNumber) {
    event_.chunk.start_ns = to_ns(reader_.number());
  } else if (key == "endTime" && type == json::Type::kNumber) {
    event_.chunk.end_ns = to_ns(reader_.number());
  }
}

void TraceReader::clear_event() {
  event_.name.clear();
  event_.id.clear();
  event_.phase = '\0';
  event_.thread = {};
  event_.time_ns = 0;
  event_.duration_ns = 0;
  event_.name_argument.clear();
  event_.node_argument.clear();
  event_.chunk.tree.clear();
  event_.chunk.samples.clear();
  event_.chunk.deltas_ns.clear();
  event_.chunk.start_ns.reset();
  event_.chunk.end_ns.reset();
}

// ---------------------------------------------------------------- using

void TraceReader::use_event() {
  const std::uint64_t thread = event_.thread.key();
  switch (event_.phase) {
    case 'X':
      return gc_markers_.add(profile_, thread, event_.name, event_.time_ns, event_.duration_ns);
    case 'B':
      return gc_markers_.begin(profile_, thread, event_.name, event_.time_ns);
    case 'E':
      return gc_markers_.end(profile_, thread, event_.name, event_.time_ns);
    case 'M':
      if (event_.name == "thread_name") thread_names_[thread] = event_.name_argument;
      if (event_.name == "process_name")
        process_names_[static_cast<std::uint32_t>(event_.thread.pid)] = event_.name_argument;
      if (event_.name == "version" && !event_.node_argument.empty())
        profile_.facts["node"] = event_.node_argument;
      return;
    default:
      if (event_.name == "Profile") start_run();
      if (event_.name == "ProfileChunk" || event_.name == "CpuProfile") add_chunk();
  }
}

TraceReader::TracedRun& TraceReader::run_of_event() {
  const std::string key = event_.id.empty() ? fmt::format("{}:{}", event_.thread.pid, event_.thread.tid)
                                            : fmt::format("{}/{}", event_.thread.pid, event_.id);
  const auto [entry, added] = run_indices_.try_emplace(key, runs_.size());
  if (added) runs_.emplace_back().thread = event_.thread;
  return runs_[entry->second];
}

void TraceReader::start_run() {
  TracedRun& run = run_of_event();
  // The chunks come from the thread that samples, this one from the thread that is sampled.
  run.thread = event_.thread;
  if (event_.chunk.start_ns) run.start_ns = event_.chunk.start_ns;
}

void TraceReader::add_chunk() {
  Chunk& chunk = event_.chunk;
  if (chunk.tree.empty() && chunk.samples.empty() && !chunk.end_ns) return;
  TracedRun& run = run_of_event();
  run.tree.append(chunk.tree);
  if (chunk.start_ns) run.start_ns = chunk.start_ns;
  if (chunk.end_ns) run.end_ns = chunk.end_ns;
  if (chunk.deltas_ns.size() != chunk.samples.size()) {
    profile_.diagnostics.warn(
        "a chunk of a CPU profile has not one time for each sample: the rest have the last time");
    chunk.deltas_ns.resize(chunk.samples.size());
  }
  run.chunks.push_back({.time_ns = event_.time_ns,
                        .tree = {},
                        .samples = chunk.samples,
                        .deltas_ns = chunk.deltas_ns,
                        .start_ns = {},
                        .end_ns = {}});
}

// ---------------------------------------------------------------- building

void TraceReader::build() {
  for (TracedRun& run : runs_) build_run(run);
  gc_markers_.build(profile_, [&](std::uint64_t key) {
    return thread_of({static_cast<std::int32_t>(key >> 32), static_cast<std::int32_t>(key)});
  });
}

void TraceReader::build_run(TracedRun& traced) {
  std::ranges::stable_sort(traced.chunks, {}, &Chunk::time_ns);
  ProfilerRun run;
  run.tree = std::move(traced.tree);
  for (const Chunk& chunk : traced.chunks) {
    run.samples.insert(run.samples.end(), chunk.samples.begin(), chunk.samples.end());
    run.times_ns.insert(run.times_ns.end(), chunk.deltas_ns.begin(), chunk.deltas_ns.end());
  }
  if (!traced.start_ns && !traced.chunks.empty()) {
    profile_.diagnostics.warn("the start of a CPU profile is missing: its times count from its first part");
    traced.start_ns = traced.chunks.front().time_ns;
  }
  run.times_ns = add_up(std::move(run.times_ns), traced.start_ns.value_or(0));
  run.end_ns = traced.end_ns.value_or(0);
  build_samples(profile_, run, thread_of(traced.thread));
}

ThreadId TraceReader::thread_of(TraceThread thread) {
  const auto name_in = [](const auto& names, std::uint64_t key) {
    const auto found = names.find(key);
    return found == names.end() ? std::string_view() : std::string_view(found->second);
  };
  const ProcessId process =
      profile_.intern_process(thread.pid, name_in(process_names_, static_cast<std::uint32_t>(thread.pid)));
  return profile_.intern_thread(process, thread.tid, name_in(thread_names_, thread.key()));
}

}  // namespace nodescope
