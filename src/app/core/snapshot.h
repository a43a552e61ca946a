#pragma once

#include <string>

#include "app/core/session.h"
#include "base/byte_sink.h"
#include "base/result.h"

namespace nodescope {

struct CoreSnapshotOptions {
  std::string output;   // empty: core-PID.heapsnapshot
  bool redact = false;  // what strings say is left out
  bool json = false;
};

// Writes the heap of each isolate as a .heapsnapshot, and to `sink` what was written.
Result<void> write_core_snapshot(CoreSession& session, const CoreSnapshotOptions& options, ByteSink& sink);

}  // namespace nodescope
