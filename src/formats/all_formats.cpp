#include <array>

#include "formats/bpf_stacks/bpf_stacks.h"
#include "formats/cpuprofile/cpuprofile.h"
#include "formats/firefox/firefox.h"
#include "formats/folded/folded.h"
#include "formats/format.h"
#include "formats/heapprofile/heapprofile.h"
#include "formats/hermes/hermes.h"
#include "formats/otlp/otlp.h"
#include "formats/perf_data/perf_data.h"
#include "formats/perf_script/perf_script.h"
#include "formats/pprof/pprof.h"
#include "formats/profile_json/profile_json.h"
#include "formats/recording/recording.h"
#include "formats/sentry/sentry.h"
#include "formats/speedscope/speedscope.h"
#include "formats/trace_events/trace_events.h"
#include "formats/v8_log/v8_log.h"

namespace nodescope {

std::span<const Format* const> all_formats() {
  // Those with a magic number first; text that almost anything can be mistaken for last.
  static constexpr std::array kFormats = {
      &kRecordingFormat,  &kPerfDataFormat,   &kProfileJsonFormat, &kCpuProfileFormat, &kHeapProfileFormat,
      &kSpeedscopeFormat, &kHermesFormat,     &kTraceEventsFormat, &kFirefoxFormat,    &kSentryFormat,
      &kV8LogFormat,      &kV8TicksFormat,    &kPprofFormat,       &kOtlpFormat,       &kBpftraceFormat,
      &kBccFormat,        &kPerfScriptFormat, &kFoldedFormat,
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
