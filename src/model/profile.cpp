#include "model/profile.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "model/append.h"

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
  append_as(into, from, ThreadId{});
}

}  // namespace nodescope
