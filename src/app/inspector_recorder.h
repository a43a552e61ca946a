#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "app/recorder.h"
#include "base/result.h"
#include "capture/inspector_session.h"

namespace nodescope {

struct InspectorRecording {
  InspectorOptions options;
  std::vector<pid_t> pids;
  std::optional<InspectorAddress> address;  // instead of a pid
  double seconds = 0;
  std::string output;
  SourceMapOptions maps;
};

// Records by V8's own profilers until the time is over, Ctrl-C comes or the processes have ended, puts their
// inspectors back as they were, and writes the result.  A .cpuprofile or .heapprofile is V8's own, to the
// byte; that of every further thread gets a file of its own beside it.
Result<Recorded> record_by_inspector(InspectorRecording wanted);

// The same for what ran: a report for people, or JSON where `wanted.output` ends so; "-" is standard output.
Result<void> record_coverage(InspectorRecording wanted);

// Says which inspectors a recording that was killed has left open.
void tell_left_open();

}  // namespace nodescope
