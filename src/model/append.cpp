#include "model/append.h"

#include <algorithm>
#include <vector>

namespace nodescope {

void append_as(Profile& into, const Profile& from, ThreadId unknown_thread) {
  std::vector<StringId> strings(from.strings.size());
  for (std::size_t i = 0; i < strings.size(); ++i)
    strings[i] = into.strings.intern(from.strings[StringId{i}]);

  std::vector<FrameId> frames(from.frames.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    Frame frame = from.frames[FrameId{i}];
    frame.function = strings[frame.function.index()];
    frame.file = strings[frame.file.index()];
    frame.module = strings[frame.module.index()];
    frame.generated = strings[frame.generated.index()];
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
  threads[0] = unknown_thread;
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
