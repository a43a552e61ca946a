#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/string_table.h"
#include "model/frame.h"
#include "model/sample.h"
#include "model/stack.h"

namespace nodescope {

enum class Unit : std::uint8_t { kSamples, kNanoseconds, kBytes, kCount };

std::string_view to_string(Unit unit);
std::optional<Unit> unit_of(std::string_view name);

// What a sample counts: "cpu-clock" in nanoseconds, "space" in bytes, "before" in samples.
struct Event {
  StringId name;
  Unit unit = Unit::kSamples;

  bool operator==(const Event&) const = default;
};

struct Process {
  std::int32_t pid = 0;
  StringId name;

  bool operator==(const Process&) const = default;
};

// A thread that changes its name becomes a second thread with the same tid.
struct Thread {
  ProcessId process;
  std::int32_t tid = 0;
  StringId name;

  bool operator==(const Thread&) const = default;
};

// What a process had mapped, from `start` up to but excluding `end`.
struct Mapping {
  ProcessId process;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t file_offset = 0;
  StringId file;
  StringId build_id;  // lower-case hexadecimal

  bool operator==(const Mapping&) const = default;
};

enum class MarkerKind : std::uint8_t { kGc, kStall, kOther, kLost };

// Something that lasted: a collection, a turn of the event loop that blocked it, a time of which samples are
// missing.
struct Marker {
  std::int64_t time_ns = 0;
  std::int64_t duration_ns = 0;
  ThreadId thread;
  MarkerKind kind = MarkerKind::kOther;
  StringId name;

  bool operator==(const Marker&) const = default;
};

// The text of a file that frames name, or of its source map, as it was when the profile was taken.
struct SourceText {
  StringId file;
  std::string text;

  bool operator==(const SourceText&) const = default;
};

// A CPU or allocation profile, whatever it came from.  Plain tables that refer to each other by id.
// Thread 0 and process 0 always exist: "not known", with pid and tid 0 and no name.  Event 0 exists as soon
// as there is a sample; it is the one that views show unless another is asked for.
class Profile {
 public:
  Profile();
  Profile(Profile&&) = default;
  Profile& operator=(Profile&&) = default;

  StringTable strings;
  FrameTable frames;
  StackTable stacks;
  SampleTable samples;
  std::vector<Mapping> mappings;
  std::vector<Marker> markers;
  std::vector<SourceText> sources;  // only where they were asked for; one for each file
  Diagnostics diagnostics;

  // Facts about the recording, in the user's words: "command", "node", "host", "rate", "format".
  std::map<std::string, std::string> facts;

  // Samples that were taken but are not here; taken = samples.size() + lost_samples.
  std::uint64_t lost_samples = 0;
  // The wall clock at time_ns == 0 of the samples, in nanoseconds since 1970; 0 when not known.
  std::int64_t clock_offset_ns = 0;

  EventId intern_event(std::string_view name, Unit unit);
  ProcessId intern_process(std::int32_t pid, std::string_view name);
  // A process of its own, also where there is one of this pid and name: the system uses its numbers again.
  ProcessId add_process(std::int32_t pid, std::string_view name);
  void rename_process(ProcessId process, std::string_view name);
  ThreadId intern_thread(ProcessId process, std::int32_t tid, std::string_view name);

  const std::vector<Event>& events() const { return events_; }
  const std::vector<Process>& processes() const { return processes_; }
  const std::vector<Thread>& threads() const { return threads_; }
  const Event& event(EventId id) const { return events_[id.index()]; }
  const Process& process(ProcessId id) const { return processes_[id.index()]; }
  const Thread& thread(ThreadId id) const { return threads_[id.index()]; }

  std::string_view text(StringId id) const { return strings[id]; }
  // Null where the text was not kept.
  const SourceText* find_source(std::string_view file) const;

 private:
  std::vector<Event> events_;
  std::vector<Process> processes_;
  std::vector<Thread> threads_;
  FlatMap<std::uint64_t, ProcessId> process_ids_;
  FlatMap<std::string, ThreadId> thread_ids_;
};

// Adds everything of `from` to `into`: a second file, or the part that another thread read.
void append(Profile& into, const Profile& from);

}  // namespace nodescope
