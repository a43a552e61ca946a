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
};

// Records by V8's own profilers until the time is over, Ctrl-C comes or the processes have ended, puts their
// inspectors back as they were, and writes the result.  Processes that would open their inspectors on the
// same port are recorded one after another, each for the whole time.
Result<Recorded> record_by_inspector(const InspectorRecording& wanted);

}  // namespace nodescope
