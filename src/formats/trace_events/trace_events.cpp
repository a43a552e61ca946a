#include "formats/trace_events/trace_events.h"

#include "formats/trace_events/trace_reader.h"
#include "json/sniff.h"

namespace nodescope {

namespace {

// DevTools puts the metadata first, and with source maps in it the events may begin far behind.
bool recognise_trace_events(std::string_view head) {
  const json::Outline outline = json::outline_of(head);
  if (outline.has("traceEvents") || outline.has("[].ph") || outline.has("displayTimeUnit")) return true;
  return outline.has("metadata.source") &&
         (outline.has("metadata.startTime") || outline.has("metadata.dataOrigin"));
}

Result<Profile> read_trace_events(ByteSource& source, const ReadOptions& options) {
  return TraceReader(source, options.progress).read();
}

}  // namespace

const Format kTraceEventsFormat = {
    .name = "trace-events",
    .extension = "",
    .description = "Chrome trace events with CPU profiles (node --trace-event-categories, DevTools)",
    .recognise = recognise_trace_events,
    .read = read_trace_events,
    .write = nullptr,
};

}  // namespace nodescope
