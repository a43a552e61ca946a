#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/cause.h"
#include "analysis/code_origin.h"
#include "analysis/overview.h"
#include "base/diagnostics.h"
#include "model/profile.h"
#include "page/wire.h"

namespace nodescope::page {

// Words of an enum, in the order of its values.  Where columns have it, the page knows it as numbers too.
template <>
struct WireEnum<Unit> {
  static constexpr std::string_view kName = "Unit";
  static constexpr std::size_t kCount = 4;
  static std::string_view word(Unit unit) { return to_string(unit); }
};
template <>
struct WireEnum<Cause> {
  static constexpr std::string_view kName = "Cause";
  static constexpr std::size_t kCount = kCauseCount;
  static std::string_view word(Cause cause) { return to_string(cause); }
};
template <>
struct WireEnum<ThreadRole> {
  static constexpr std::string_view kName = "ThreadRole";
  static constexpr std::size_t kCount = 5;
  static std::string_view word(ThreadRole role) { return to_string(role); }
};
template <>
struct WireEnum<Severity> {
  static constexpr std::string_view kName = "Severity";
  static constexpr std::size_t kCount = 3;
  static std::string_view word(Severity severity);
};
template <>
struct WireEnum<FrameKind> {
  static constexpr std::string_view kName = "FrameKind";
  static constexpr std::size_t kCount = kFrameKindCount;
  static std::string_view word(FrameKind kind) { return to_string(kind); }
};
template <>
struct WireEnum<Origin> {
  static constexpr std::string_view kName = "Origin";
  static constexpr std::size_t kCount = kOriginCount;
  static std::string_view word(Origin origin);
};
template <>
struct WireEnum<JsTier> {
  static constexpr std::string_view kName = "Tier";
  static constexpr std::size_t kCount = 5;
  static std::string_view word(JsTier tier);
};
template <>
struct WireEnum<MarkerKind> {
  static constexpr std::string_view kName = "MarkerKind";
  static constexpr std::size_t kCount = 4;
  static std::string_view word(MarkerKind kind);
};

// Times are nanoseconds from the first sample of the recording, unless their name says otherwise.

struct OpenReply {
  std::size_t file = 0;
  std::size_t samples = 0;
};
NODESCOPE_WIRE(OpenReply, (file, samples))

struct AboutEvent {
  std::string_view name;
  Unit unit = Unit::kSamples;
};
NODESCOPE_WIRE(AboutEvent, (name, unit))

struct AboutAccounting {
  std::uint64_t taken = 0;
  std::uint64_t shown = 0;
  std::uint64_t lost = 0;
  std::uint64_t other_events = 0;
};
NODESCOPE_WIRE(AboutAccounting, (taken, shown, lost, other_events))

struct AboutResolved {
  std::uint64_t full = 0;
  std::uint64_t partial = 0;
  std::uint64_t none = 0;
};
NODESCOPE_WIRE(AboutResolved, (full, partial, none))

struct ProcessInfo {
  std::int64_t pid = 0;
  std::string_view name;
};
NODESCOPE_WIRE(ProcessInfo, (pid, name))

struct ThreadInfo {
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::string_view name;
  std::size_t process = 0;
  std::uint64_t samples = 0;
  bool is_main = false;  // runs JavaScript
  ThreadRole role = ThreadRole::kOther;
};
NODESCOPE_WIRE(ThreadInfo, (pid, tid, name, process, samples, is_main, role))

struct AboutDiagnostic {
  Severity severity = Severity::kWarning;
  std::string_view what;
  std::uint64_t count = 0;
  std::string_view example;
};
NODESCOPE_WIRE(AboutDiagnostic, (severity, what, count, example))

struct About {
  std::string_view name;
  std::map<std::string, std::string> facts;
  std::vector<AboutEvent> events;
  std::int64_t duration_ns = 0;
  double first_wall_ns = 0;  // since 1970; 0: not known
  AboutAccounting accounting;
  AboutResolved resolved;
  bool has_times = false;
  std::vector<ProcessInfo> processes;
  std::vector<ThreadInfo> threads;
  std::vector<AboutDiagnostic> diagnostics;
  double rate_hz = 0;
  bool rate_estimated = false;
  bool kinds_known = false;
  std::string_view app_root;
};
NODESCOPE_WIRE(About, (name, facts, events, duration_ns, first_wall_ns, accounting, resolved, has_times,
                       processes, threads, diagnostics, rate_hz, rate_estimated, kinds_known, app_root))

struct HeatReply {
  std::uint32_t columns_count = 0;
  std::uint32_t rows = 0;
  std::int64_t column_ns = 0;
  std::int64_t first_column_ns = 0;
  std::uint32_t maximum = 0;
  std::uint32_t p995 = 0;
  std::vector<std::uint32_t> count;
  std::vector<std::uint8_t> cause;  // kEmptyCell for none
  std::vector<std::uint8_t> share;
  std::optional<std::vector<std::uint32_t>> matched;  // with a search
};
NODESCOPE_WIRE(HeatReply,
               (columns_count, rows, column_ns, first_column_ns, maximum, p995, count, cause, share, matched))

struct LanesReply {
  std::uint32_t bins = 0;
  double bin_ns = 0;
  double first_ns = 0;
  std::vector<std::uint32_t> count;           // by thread, bin and cause
  std::optional<std::vector<double>> cpu_ns;  // in the same order, where it is known
};
NODESCOPE_WIRE(LanesReply, (bins, bin_ns, first_ns, count, cpu_ns))

struct CausesReply {
  Unit unit = Unit::kSamples;
  std::uint64_t samples = 0;
  std::vector<double> total;  // by cause
};
NODESCOPE_WIRE(CausesReply, (unit, samples, total))

// A call tree, level by level; children of a node are neighbours, left to right.
struct TreeColumns {
  std::vector<std::uint32_t> parent;
  std::vector<std::uint32_t> depth;
  std::vector<std::uint32_t> label;
  std::vector<double> start;
  std::vector<double> total;
  std::vector<double> self;
  std::vector<JsTier> tier;
  std::vector<std::uint8_t> inlined;
  // Of a comparison.
  std::optional<std::vector<double>> before_total;
  std::optional<std::vector<double>> after_total;
  // Of a chart.
  std::optional<std::vector<double>> begin_ns;
  std::optional<std::vector<double>> end_ns;
};
NODESCOPE_WIRE(TreeColumns, (parent, depth, label, start, total, self, tier, inlined, before_total,
                             after_total, begin_ns, end_ns))

// What nodes of trees are called.
struct LabelColumns {
  std::vector<std::string> names;
  std::vector<std::string> places;
  std::vector<FrameKind> kind;
  std::vector<Origin> origin;
  std::vector<Cause> cause;
  std::optional<std::vector<std::uint8_t>> matched;  // with a search
};
NODESCOPE_WIRE(LabelColumns, (names, places, kind, origin, cause, matched))

struct FlameReply {
  std::uint64_t total = 0;
  Unit unit = Unit::kSamples;
  std::string event;
  std::uint64_t samples = 0;
  std::uint32_t depth = 0;
  std::string note;
  std::optional<std::uint64_t> before_total;  // of a comparison
  std::optional<std::uint64_t> after_total;
  std::optional<std::uint64_t> matched;  // with a search
  TreeColumns tree;
  LabelColumns labels;
};
NODESCOPE_WIRE(FlameReply,
               (total, unit, event, samples, depth, note, before_total, after_total, matched, tree, labels))

struct SandwichReply {
  std::uint64_t total = 0;
  std::uint64_t self = 0;
  Unit unit = Unit::kSamples;
  TreeColumns callers;
  TreeColumns callees;
  LabelColumns labels;
};
NODESCOPE_WIRE(SandwichReply, (total, self, unit, callers, callees, labels))

constexpr std::uint32_t kNoRow = UINT32_MAX;

struct TableReply {
  std::uint64_t total = 0;
  Unit unit = Unit::kSamples;
  std::size_t rows_count = 0;  // before the limit
  std::vector<std::string> names;
  std::vector<std::string> places;
  std::vector<double> self;
  std::vector<double> totals;
  std::vector<FrameKind> kind;
  std::vector<Origin> origin;
  std::vector<JsTier> tier;
  // Of a comparison.
  std::optional<std::uint64_t> before_total;
  std::optional<std::vector<double>> before_self;
  std::optional<std::vector<double>> before_totals;
  // Of processes and threads: the row of each of the recording's threads; kNoRow for none.
  std::optional<std::vector<std::uint32_t>> row_of_thread;
};
NODESCOPE_WIRE(TableReply, (total, unit, rows_count, names, places, self, totals, kind, origin, tier,
                            before_total, before_self, before_totals, row_of_thread))

struct StallInfo {
  std::size_t thread = 0;
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;
  std::int64_t wall_ms = 0;  // since 1970; 0: not known
  bool estimated = false;
  std::string name;
  std::string place;
  Cause cause = Cause::kOther;
  std::uint64_t samples = 0;
  std::string why;
};
NODESCOPE_WIRE(StallInfo, (thread, from_ns, to_ns, wall_ms, estimated, name, place, cause, samples, why))

struct StallsReply {
  std::vector<StallInfo> stalls;  // longest first
  std::string sentence;
  bool measured = false;
  std::optional<double> busy_percent;
  std::optional<StallInfo> longest;  // also where it is shorter than was asked for
};
NODESCOPE_WIRE(StallsReply, (stalls, sentence, measured, busy_percent, longest))

struct VerdictReply {
  std::string sentence;
  double cpu_ns = 0;
  std::optional<std::size_t> thread;  // the one that was busiest
};
NODESCOPE_WIRE(VerdictReply, (sentence, cpu_ns, thread))

struct MarkersReply {
  std::vector<std::string> names;
  std::vector<double> time;
  std::vector<double> duration;
  std::vector<std::uint32_t> thread;
  std::vector<MarkerKind> kind;
};
NODESCOPE_WIRE(MarkersReply, (names, time, duration, thread, kind))

struct SourceFunctionInfo {
  std::string name;
  std::uint32_t line = 0;
};
NODESCOPE_WIRE(SourceFunctionInfo, (name, line))

struct SourceReply {
  Unit unit = Unit::kSamples;
  std::uint64_t selection_total = 0;  // what shares are shares of
  std::uint64_t samples = 0;
  std::vector<SourceFunctionInfo> functions;
  std::vector<std::uint32_t> line;
  std::vector<std::uint32_t> column;
  std::vector<double> self;
  std::vector<double> total;
};
NODESCOPE_WIRE(SourceReply, (unit, selection_total, samples, functions, line, column, self, total))

// By group of places.
struct GroupsReply {
  std::vector<double> self;
  std::vector<double> total;
};
NODESCOPE_WIRE(GroupsReply, (self, total))

struct TextReply {
  bool is_kept = false;
  std::vector<std::uint8_t> bytes;
};
NODESCOPE_WIRE(TextReply, (is_kept, bytes))

struct FileInfo {
  std::string path;
  std::uint64_t self = 0;
  std::uint64_t total = 0;
};
NODESCOPE_WIRE(FileInfo, (path, self, total))

struct FilesReply {
  Unit unit = Unit::kSamples;
  std::uint64_t total = 0;
  std::vector<FileInfo> files;
};
NODESCOPE_WIRE(FilesReply, (unit, total, files))

struct ExportReply {
  std::string extension;
  std::string mime;
  std::vector<std::uint8_t> bytes;
};
NODESCOPE_WIRE(ExportReply, (extension, mime, bytes))

}  // namespace nodescope::page
