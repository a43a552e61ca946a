#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/byte_sink.h"
#include "base/diagnostics.h"
#include "formats/format.h"

namespace nodescope {

// The options of stackcollapse-perf.pl.  Its --all is `kernel` and `jit`.
struct CollapseOptions {
  bool pid = false;
  bool tid = false;
  bool kernel = false;
  bool jit = false;
  bool addrs = false;
  bool inlined = false;  // --inline; without `resolve_inlined` it changes nothing
  bool context = false;
  bool srcline = false;
  std::string event_filter = {};  // empty: the first event of the file

  // For --inline, in place of the addr2line that the script runs: the functions at `address` of `module`,
  // outermost first and joined by ';' ("main;parse:x.c:3" with `context`), or nothing if they are not known.
  std::function<std::string(std::string_view address, std::string_view function, std::string_view module)>
      resolve_inlined = {};
};

constexpr std::string_view kOtherEventsLeftOut =
    "samples of other events are left out (--event-filter takes one of them)";

constexpr std::string_view kLastSampleForgotten =
    "the last sample, after which there is no empty line, is left out, as stackcollapse-perf.pl does";

// Writes to `sink` what stackcollapse-perf.pl prints for the same `perf script` text and options, byte for
// byte.  What it says on standard error comes back as Diagnostics: the events that were left out, lines that
// are not understood; and what it does not say: a last sample that it forgets.
Result<Diagnostics> collapse_perf_script(ByteSource& source, const CollapseOptions& options,
                                         const ReadOptions& read, ByteSink& sink);

}  // namespace nodescope
