#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nodescope {

// What an inspector sends: one JSON text, of which only what decides where it belongs is read.
struct InspectorMessage {
  std::int64_t answers = -1;  // the id of a call; -1: an event
  std::string method;
  std::string error;  // empty: the call succeeded
  std::string text;   // all of it
};

InspectorMessage parse_inspector_message(std::string text);

// The params of the events of the domain NodeWorker.
struct WorkerEvent {
  std::string session;
  std::optional<std::string> title;  // of a worker that has come
  std::string message;               // that the worker sends
};

// Nothing where the text is no such event.
std::optional<WorkerEvent> parse_worker_event(const std::string& text);

// The piece of a heap snapshot in HeapProfiler.addHeapSnapshotChunk; nothing where there is none.
std::optional<std::string> parse_snapshot_chunk(const std::string& text);

// The value of `name` in the result of a reply, exactly as the peer wrote it; nothing where there is none.  A
// view of `reply`.
std::optional<std::string_view> text_in_result(std::string_view reply, std::string_view name);

}  // namespace nodescope
