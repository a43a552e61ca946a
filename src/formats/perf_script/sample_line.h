#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/profile.h"

namespace nodescope {

// The first line of a sample as `perf script` prints it, in whatever fields were asked for:
//   "node  4984/4990 [001]   482.997627:     200040 cpu-clock:ppp: "
//   "java 19983 cycles:"        "swapper     0 [000] 158665.570607: sched:sched_switch: prev_comm=… "
//   "  482.997627: "            "node "
struct SampleLine {
  std::string_view source;  // process, thread and processor: the line up to the time
  std::optional<std::int64_t> time_ns;
  std::optional<std::uint64_t> period;
  std::string_view event;
  std::string_view rest;      // what follows: one frame, fields of a tracepoint, an address
  bool is_only_name = false;  // "node ": any word would look like that
};

// Nothing if the line is not one.
std::optional<SampleLine> parse_sample_line(std::string_view line);

// A line about the recording itself (--show-mmap-events and the like) has the name of a record in place of an
// event. `rest` is then all of it: "PERF_RECORD_LOST lost 12".
bool is_record(const SampleLine& line);
std::uint64_t lost_in_record(const SampleLine& line);

// What SampleLine::source says.
struct SampleSource {
  std::string_view comm;
  std::optional<std::int32_t> pid;
  std::optional<std::int32_t> tid;
  std::int32_t cpu = kUnknownCpu;
};
SampleSource parse_sample_source(std::string_view source);

}  // namespace nodescope
