#pragma once

#include <cstdint>
#include <string_view>

namespace nodescope::pprof {

// What a label of a sample stands for in the model.
enum class LabelRole : std::uint8_t {
  kNone,  // no place in the model
  kPid,
  kProcessName,
  kTid,
  kOsTid,  // goes before kTid, which then numbers the threads of the program
  kThreadName,
  kCpu,
  kTime,
};

LabelRole label_role_of(std::string_view key);

// The keys that we write.
inline constexpr std::string_view kPidLabel = "pid";
inline constexpr std::string_view kProcessNameLabel = "comm";
inline constexpr std::string_view kTidLabel = "tid";
inline constexpr std::string_view kThreadNameLabel = "thread";
inline constexpr std::string_view kCpuLabel = "cpu";
inline constexpr std::string_view kTimeLabel = "timestamp_ns";

// From here on a timestamp is one of the wall clock: later than 2001 since 1970, but 31 years since boot.
inline constexpr std::int64_t kFirstWallClock = 1'000'000'000'000'000'000;

inline constexpr std::string_view kFormatFact = "format";

// Facts that have fields of their own in pprof.
inline constexpr std::string_view kDurationFact = "duration";
inline constexpr std::string_view kPeriodFact = "period";
inline constexpr std::string_view kDropFramesFact = "drop_frames";
inline constexpr std::string_view kKeepFramesFact = "keep_frames";
inline constexpr std::string_view kDocUrlFact = "doc_url";

// Comments with which our own files keep what pprof has no field for.
inline constexpr std::string_view kClockOffsetComment = "clock_offset_ns";
inline constexpr std::string_view kLostSamplesComment = "lost_samples";

}  // namespace nodescope::pprof
