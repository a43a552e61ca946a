#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "os/procfs.h"

namespace nodescope {

enum class RecordingEnd : std::uint8_t {
  kTimeOver,
  kInterrupted,  // by the user
  kTargetsEnded,
};

// How a recording went, beside what is in it.
struct RecordingCourse {
  RecordingEnd end = RecordingEnd::kTimeOver;
  double seconds = 0;
  std::optional<double> wanted_seconds;
  std::vector<pid_t> pids;           // of running processes
  bool has_command = false;          // that was started for it
  bool is_node = false;              // at least one of them
  std::vector<ProcessState> states;  // of the pids at the end
  std::uint64_t samples = 0;
  std::uint64_t lost_samples = 0;
  std::uint64_t cpu_ns = 0;     // used by all of it
  std::uint64_t period_ns = 0;  // CPU time for one sample
};

// Lines that say what the reader of a recording could not tell from it: that the processes ended before the
// time, and why there is not a single sample.  Empty: nothing.
std::string course_text(const RecordingCourse& course);

}  // namespace nodescope
