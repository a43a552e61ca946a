#include "formats/other_content.h"

#include <algorithm>
#include <array>

#include "json/sniff.h"

namespace nodescope {

namespace {

using std::string_view_literals::operator""sv;

struct KnownContent {
  std::string_view sign;
  std::string_view what;
};

// By how a file begins.
constexpr std::array kBeginnings = {
    KnownContent{"\0\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0"sv,
                 "a CPU profile of gperftools: `pprof -proto` makes a file of it that can be read"},
    KnownContent{"\x7F"
                 "ELF",
                 "an ELF file: a program or a library"},
    KnownContent{"PK\x03\x04", "a ZIP archive: unpack it first"},
    KnownContent{"\xFD"
                 "7zXZ",
                 "xz: unpack it first"},
    KnownContent{"BZh", "bzip2: unpack it first"},
    KnownContent{"\x04\x22\x4D\x18", "lz4: unpack it first"},
    KnownContent{"\xFF\xFE", "UTF-16, as PowerShell's > writes: make it UTF-8 by `iconv -f UTF-16 -t UTF-8`"},
    KnownContent{"\xFE\xFF", "UTF-16, as PowerShell's > writes: make it UTF-8 by `iconv -f UTF-16 -t UTF-8`"},
    KnownContent{"\x89PNG", "a PNG picture"},
    KnownContent{"%PDF", "a PDF document"},
    KnownContent{"SQLite format 3", "an SQLite database"},
    KnownContent{"FLR\0"sv, "a Java Flight Recorder file: `jfr print` or async-profiler's jfrconv read it"},
    KnownContent{"JiTD", "a jitdump: give the perf.data that goes with it"},
    KnownContent{"DTiJ", "a jitdump: give the perf.data that goes with it"},
    KnownContent{"#!", "a script"},
    KnownContent{"<svg", "an SVG picture: give the profile that it was made from"},
    KnownContent{"<?xml", "XML"},
    KnownContent{"<!DOCTYPE html", "an HTML page"},
    KnownContent{"<html", "an HTML page"},
    KnownContent{"Statistical profiling result from ",
                 "the text of node --prof-process: give the isolate*.log that it was made from"},
    KnownContent{"# callgrind format", "callgrind's counts: callgrind_annotate or KCachegrind read them"},
};

// Texts by what stands in one of their first lines.
constexpr std::array kLines = {
    KnownContent{"\nevents: ", "callgrind's counts: callgrind_annotate or KCachegrind read them"},
    KnownContent{"Time and Allocation Profiling Report",
                 "a report of GHC: ghc-prof-flamegraph makes folded stacks of it"},
    KnownContent{"# tracer: ",
                 "a text of ftrace (atrace, systrace), which has no stacks: ui.perfetto.dev shows it"},
    KnownContent{"\nTRACE:\n", "a text of atrace, which has no stacks: ui.perfetto.dev shows it"},
    KnownContent{"\nShowing nodes accounting for ",
                 "a text report of pprof: give the profile itself, `pprof -proto` writes it"},
    KnownContent{"PeriodType: ",
                 "what `pprof -raw` prints: give the profile itself, `pprof -proto` writes it"},
    KnownContent{"\n# Overhead  ", "the text of perf report: give perf.data, or the text of `perf script`"},
    KnownContent{"Weight, ", "a table of xperf: wpaexporter and speedscope read traces of Windows"},
    KnownContent{"Process Name ( PID)",
                 "a table of xperf: wpaexporter and speedscope read traces of Windows"},
    KnownContent{"Each sample counts as ", "the text of gprof: gprof2dot reads it"},
};
constexpr std::size_t kSearched = 4096;  // a comment of this length may precede them

// JSON by the keys of the outermost object.
constexpr std::array kKeys = {
    KnownContent{"flamebearer", "a profile of Pyroscope in its own JSON: export it as pprof instead"},
    KnownContent{"recording.displayName", "a timeline of Safari: export its stacks from Safari's own view"},
    KnownContent{"recording.records", "a timeline of Safari: export its stacks from Safari's own view"},
};

bool is_text(std::string_view head) {
  return head.substr(0, kSearched).find('\0') == std::string_view::npos;
}

}  // namespace

std::string_view known_other_content(std::string_view head) {
  for (const KnownContent& known : kBeginnings) {
    if (head.starts_with(known.sign)) return known.what;
  }
  if (!is_text(head)) return {};
  if (head.starts_with('{') || head.starts_with('[')) {
    const json::Outline outline = json::outline_of(head);
    const auto found =
        std::ranges::find_if(kKeys, [&](const KnownContent& known) { return outline.has(known.sign); });
    return found == kKeys.end() ? std::string_view() : found->what;
  }
  const std::string_view start = head.substr(0, kSearched);
  const auto found =
      std::ranges::find_if(kLines, [&](const KnownContent& known) { return start.contains(known.sign); });
  return found == kLines.end() ? std::string_view() : found->what;
}

}  // namespace nodescope
