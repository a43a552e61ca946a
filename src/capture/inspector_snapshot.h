#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "base/byte_sink.h"
#include "base/progress.h"
#include "base/result.h"

namespace nodescope {

// How V8 took a snapshot of its own heap.
struct InspectorSnapshot {
  std::string address;  // of the inspector, "127.0.0.1:9229"
  bool opened = false;  // by us, and closed again
  std::chrono::milliseconds open_time{0};
  std::uint64_t bytes = 0;
  std::chrono::milliseconds taking{0};  // in which the main thread did nothing else
};

// Writes the snapshot that V8 makes of the heap of the main thread, piece by piece as it comes.  `given_up`
// is asked all the time; when it says true, or on any failure, what was written is no snapshot.
Result<InspectorSnapshot> take_snapshot_by_inspector(pid_t pid, ByteSink& sink, Progress& progress,
                                                     std::function<bool()> given_up);

}  // namespace nodescope
