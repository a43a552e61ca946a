#include "model/profile.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace nodescope {

namespace {

constexpr std::array<std::string_view, 4> kUnitNames = {"samples", "nanoseconds", "bytes", "count"};

// Event ids are 8 bits in a sample's context.  A file that names more events than any tool can record is
// damaged; what is beyond is counted as one.
constexpr std::size_t kMaxEvents = 255;

std::uint64_t key_of(const Process& process) {
  return std::uint64_t{static_cast<std::uint32_t>(process.pid)} << 32 | process.name.value;
}

}  // namespace

std::string_view to_string(Unit unit) {
  return kUnitNames[static_cast<std::size_t>(unit)];
}

std::optional<Unit> unit_of(std::string_view name) {
  const auto found = std::ranges::find(kUnitNames, name);
  if (found == kUnitNames.end()) return std::nullopt;
  return static_cast<Unit>(found - kUnitNames.begin());
}

Profile::Profile() {
  intern_process(0, "");
  intern_thread(ProcessId{}, 0, "");
}

EventId Profile::intern_event(std::string_view name, Unit unit) {
  const Event event{strings.intern(name), unit};
  const auto found = std::ranges::find(events_, event);
  if (found != events_.end()) return EventId{static_cast<std::size_t>(found - events_.begin())};
  if (events_.size() >= kMaxEvents) {
    diagnostics.warn("more than 255 events: the rest are counted as the last", name);
    return EventId{events_.size() - 1};
  }
  events_.push_back(event);
  return EventId{events_.size() - 1};
}

ProcessId Profile::intern_process(std::int32_t pid, std::string_view name) {
  const Process process{pid, strings.intern(name)};
  const auto [entry, added] = process_ids_.try_emplace(key_of(process), ProcessId{processes_.size()});
  if (added) processes_.push_back(process);
  return entry->second;
}

ProcessId Profile::add_process(std::int32_t pid, std::string_view name) {
  const ProcessId id{processes_.size()};
  processes_.push_back({pid, strings.intern(name)});
  process_ids_.try_emplace(key_of(processes_.back()), id);
  return id;
}

void Profile::rename_process(ProcessId id, std::string_view name) {
  Process& process = processes_[id.index()];
  const auto known = process_ids_.find(key_of(process));
  if (known != process_ids_.end() && known->second == id) process_ids_.erase(known);
  process.name = strings.intern(name);
  process_ids_.try_emplace(key_of(process), id);
}

ThreadId Profile::intern_thread(ProcessId process, std::int32_t tid, std::string_view name) {
  const StringId name_id = strings.intern(name);
  std::array<std::uint32_t, 3> parts = {process.value, static_cast<std::uint32_t>(tid), name_id.value};
  const std::string_view key(reinterpret_cast<const char*>(parts.data()), sizeof(parts));
  const auto found = thread_ids_.find(key);
  if (found != thread_ids_.end()) return found->second;
  const ThreadId id{threads_.size()};
  thread_ids_.emplace(std::string(key), id);
  threads_.push_back({process, tid, name_id});
  return id;
}

const SourceText* Profile::find_source(std::string_view file) const {
  const auto found =
      std::ranges::find_if(sources, [&](const SourceText& source) { return text(source.file) == file; });
  return found != sources.end() ? &*found : nullptr;
}

void append(Profile& into, const Profile& from) {
  std::vector<StringId> strings(from.strings.size());
  for (std::size_t i = 0; i < strings.size(); ++i)
    strings[i] = into.strings.intern(from.strings[StringId{i}]);

  std::vector<FrameId> frames(from.frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    Frame frame = from.frames[FrameId{i}];
    frame.function = strings[frame.function.index()];
    frame.file = strings[frame.file.index()];
    frame.module = strings[frame.module.index()];
    frames[i] = into.frames.intern(frame);
  }

  std::vector<StackId> stacks(from.stacks.size());
  for (std::size_t i = 1; i < stacks.size(); ++i) {
    const StackId id{i};
    stacks[i] =
        into.stacks.push(stacks[from.stacks.caller(id).index()], frames[from.stacks.frame(id).index()]);
  }

  std::vector<ProcessId> processes;
  for (const Process& process : from.processes()) {
    processes.push_back(into.intern_process(process.pid, from.text(process.name)));
  }
  std::vector<ThreadId> threads;
  for (const Thread& thread : from.threads()) {
    threads.push_back(
        into.intern_thread(processes[thread.process.index()], thread.tid, from.text(thread.name)));
  }
  std::vector<EventId> events;
  for (const Event& event : from.events())
    events.push_back(into.intern_event(from.text(event.name), event.unit));

  std::vector<ContextId> contexts;
  for (const SampleContext& context : from.samples.contexts()) {
    contexts.push_back(
        into.samples.intern({threads[context.thread.index()], context.cpu, events[context.event.index()]}));
  }
  for (std::size_t i = 0; i < from.samples.size(); ++i) {
    into.samples.add(from.samples.time_ns(i), stacks[from.samples.stack(i).index()],
                     contexts[from.samples.context_id(i).index()], from.samples.weight(i));
  }

  for (Mapping mapping : from.mappings) {
    mapping.process = processes[mapping.process.index()];
    mapping.file = strings[mapping.file.index()];
    mapping.build_id = strings[mapping.build_id.index()];
    if (std::ranges::find(into.mappings, mapping) == into.mappings.end()) into.mappings.push_back(mapping);
  }
  for (Marker marker : from.markers) {
    marker.thread = threads[marker.thread.index()];
    marker.name = strings[marker.name.index()];
    into.markers.push_back(marker);
  }
  for (const SourceText& source : from.sources) {
    const StringId file = strings[source.file.index()];
    if (into.find_source(into.text(file)) == nullptr) into.sources.push_back({file, source.text});
  }

  into.facts.insert(from.facts.begin(), from.facts.end());
  into.diagnostics.merge(from.diagnostics);
  into.lost_samples += from.lost_samples;
  if (into.clock_offset_ns == 0) into.clock_offset_ns = from.clock_offset_ns;
}

}  // namespace nodescope
