#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/cpuprofile/v8_call_tree.h"
#include "model/profile.h"

namespace nodescope {

// What one run of V8's CPU profiler gave: a call tree and, for every sample, the node on top and its time.
struct ProfilerRun {
  V8CallTree tree;
  std::vector<std::uint32_t> samples;  // node ids
  std::vector<std::int64_t> times_ns;  // of the samples; more or fewer in a damaged file
  std::int64_t end_ns = 0;             // when the profiler stopped; before the last sample: not known
  bool last_until_end = false;         // otherwise the last sample lasts for the average of the others

  // How nodescope wrote something else than nanoseconds of CPU time.
  std::string event = "cpu";
  Unit unit = Unit::kNanoseconds;
  std::uint64_t ns_per_unit = 1;
  bool timed = true;
};

// V8's timeDeltas as times: a delta is the time since the sample before, the first one since the start.
std::vector<std::int64_t> add_up(std::vector<std::int64_t> deltas_ns, std::int64_t start_ns);

// Adds the samples of `run` to `profile`, as samples of `thread` where its nodes do not name one.  V8
// samples at times and says nothing about durations.  Like DevTools we let a sample last until the next one,
// and the last one as long as the others do on average: the profiler may have been stopped long after it. The
// time between the start and the first sample belongs to none.  Samples out of order, which V8 writes at
// times, are put in order first.  Without any times a sample weighs one, and without samples the nodes' hit
// counts are the weights, in samples.
void build_samples(Profile& profile, ProfilerRun& run, ThreadId thread);

}  // namespace nodescope
