#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/recording_end.h"
#include "app/recording_sums.h"
#include "app/source_map_options.h"
#include "app/views.h"
#include "base/result.h"
#include "capture/sampling_session.h"
#include "model/profile.h"

namespace nodescope {

// Of several processes some may end meanwhile; an error only if none is left.
Result<void> attach_all(SamplingSession& session, const std::vector<pid_t>& pids);

// Whether that is so because the kernel refuses perf events.
bool is_refused(const Error& error);

// How often a process is stopped where they are refused.
inline constexpr unsigned kStopsFrequency = 10;

struct RecorderOptions {
  std::optional<double> seconds;  // nothing: until the processes end or the user interrupts
  std::string output;             // a .nscope file grows while it is recorded; others are written at the end
  bool has_sources = false;       // it is its owner's alone
  SourceMapOptions maps = {};
};

// What a user who waits is told about a recording.
struct Recorded {
  // Of a long .nscope recording only sums: its samples are in the file.
  Profile profile;
  RecordingSums sums;  // empty: the profile has all
  RecordingCourse course;
};

// By the ending of the output's name; kUsage if no format has it.
Result<Writer> writer_of_recording(const std::string& path);

// Runs `session` until its time is over, Ctrl-C comes, or `has_ended` says so, and writes the result.  On a
// terminal a line tells how it goes.
Result<Recorded> record(SamplingSession& session, const RecorderOptions& options,
                        const std::function<bool()>& has_ended);

// For what was recorded and could not be written to its place: it goes to a .nscope file elsewhere, of which
// the error tells.
Error keep_elsewhere(const Profile& profile, const Error& error, bool is_rest = false);

// What people want to know first: where the time went, the share of the collector, the top functions.
std::string recording_summary(const Recorded& recorded);

}  // namespace nodescope
