#include "formats/pprof/labels.h"

#include <algorithm>
#include <array>

namespace nodescope::pprof {

namespace {

struct KnownLabel {
  std::string_view key;
  LabelRole role;
};

// Of perf_to_profile (pid, tid, comm, thread_comm, timestamp_ns), pprof-nodejs and Datadog's libraries
// (thread name, thread id, os thread id, end_timestamp_ns), Pyroscope and OpenTelemetry.
constexpr std::array kKnownLabels = {
    KnownLabel{kPidLabel, LabelRole::kPid},
    KnownLabel{"process_id", LabelRole::kPid},
    KnownLabel{"process id", LabelRole::kPid},
    KnownLabel{"process.pid", LabelRole::kPid},
    KnownLabel{kProcessNameLabel, LabelRole::kProcessName},
    KnownLabel{"process", LabelRole::kProcessName},
    KnownLabel{"process_name", LabelRole::kProcessName},
    KnownLabel{"process.executable.name", LabelRole::kProcessName},
    KnownLabel{kTidLabel, LabelRole::kTid},
    KnownLabel{"thread_id", LabelRole::kTid},
    KnownLabel{"thread id", LabelRole::kTid},
    KnownLabel{"thread.id", LabelRole::kTid},
    KnownLabel{"os thread id", LabelRole::kOsTid},
    KnownLabel{"thread native id", LabelRole::kOsTid},
    KnownLabel{kThreadNameLabel, LabelRole::kThreadName},
    KnownLabel{"thread_name", LabelRole::kThreadName},
    KnownLabel{"thread name", LabelRole::kThreadName},
    KnownLabel{"thread.name", LabelRole::kThreadName},
    KnownLabel{"thread_comm", LabelRole::kThreadName},
    KnownLabel{kCpuLabel, LabelRole::kCpu},
    KnownLabel{"cpu_id", LabelRole::kCpu},
    KnownLabel{kTimeLabel, LabelRole::kTime},
    KnownLabel{"end_timestamp_ns", LabelRole::kTime},
    KnownLabel{"timestamp", LabelRole::kTime},
};

}  // namespace

LabelRole label_role_of(std::string_view key) {
  const auto known = std::ranges::find(kKnownLabels, key, &KnownLabel::key);
  return known == kKnownLabels.end() ? LabelRole::kNone : known->role;
}

}  // namespace nodescope::pprof
