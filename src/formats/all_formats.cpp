#include <array>

#include "formats/cpuprofile/cpuprofile.h"
#include "formats/firefox/firefox.h"
#include "formats/folded/folded.h"
#include "formats/format.h"
#include "formats/heapprofile/heapprofile.h"
#include "formats/perf_data/perf_data.h"
#include "formats/perf_script/perf_script.h"
#include "formats/pprof/pprof.h"
#include "formats/profile_json/profile_json.h"
#include "formats/recording/recording.h"
#include "formats/speedscope/speedscope.h"
#include "formats/trace_events/trace_events.h"

namespace nodescope {

std::span<const Format* const> all_formats() {
  // Those with a magic number first; text that almost anything can be mistaken for last.
  static constexpr std::array kFormats = {
      &kRecordingFormat,   &kPerfDataFormat,   &kProfileJsonFormat, &kCpuProfileFormat,
      &kHeapProfileFormat, &kSpeedscopeFormat, &kTraceEventsFormat, &kFirefoxFormat,
      &kPprofFormat,       &kPerfScriptFormat, &kFoldedFormat,
  };
  return kFormats;
}

const Format* find_format(std::string_view name) {
  for (const Format* format : all_formats()) {
    if (format->name == name) return format;
  }
  return nullptr;
}

}  // namespace nodescope
