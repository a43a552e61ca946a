#include "formats/trace_events/gc_markers.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "formats/cpuprofile/time_line.h"

namespace nodescope {

namespace {

bool is_gc(std::string_view name) {
  return name == "MajorGC" || name == "MinorGC" || name == "GCEvent" || name.starts_with("V8.GC");
}

std::int64_t add_saturating(std::int64_t time_ns, std::int64_t duration_ns) {
  std::int64_t end_ns = 0;
  const bool overflow = __builtin_add_overflow(time_ns, duration_ns, &end_ns);
  return overflow ? std::numeric_limits<std::int64_t>::max() : end_ns;
}

}  // namespace

void GcMarkers::add(Profile& profile, std::uint64_t thread, std::string_view name, std::int64_t time_ns,
                    std::int64_t duration_ns) {
  const std::int64_t end_ns = add_saturating(time_ns, std::max<std::int64_t>(0, duration_ns));
  last_ns_ = std::max(last_ns_, end_ns);
  if (is_gc(name)) add_raw(thread, profile.strings.intern(name), time_ns, end_ns);
}

void GcMarkers::begin(Profile& profile, std::uint64_t thread, std::string_view name, std::int64_t time_ns) {
  last_ns_ = std::max(last_ns_, time_ns);
  open_[thread].push_back({profile.strings.intern(name), time_ns, is_gc(name)});
}

void GcMarkers::end(Profile& profile, std::uint64_t thread, std::string_view name, std::int64_t time_ns) {
  last_ns_ = std::max(last_ns_, time_ns);
  std::vector<Open>& open = open_[thread];
  if (open.empty() || (!name.empty() && profile.text(open.back().name) != name)) {
    if (is_gc(name)) profile.diagnostics.info("a collection ends that did not begin within the trace");
    return;
  }
  const Open innermost = open.back();
  open.pop_back();
  if (innermost.is_gc)
    add_raw(thread, innermost.name, innermost.time_ns, std::max(innermost.time_ns, time_ns));
}

void GcMarkers::add_raw(std::uint64_t thread, StringId name, std::int64_t time_ns, std::int64_t end_ns) {
  markers_.push_back({thread, time_ns, end_ns, name});
}

void GcMarkers::build(Profile& profile, const std::function<ThreadId(std::uint64_t)>& thread_of) {
  for (const auto& [thread, open] : open_) {
    for (const Open& event : open) {
      if (!event.is_gc) continue;
      profile.diagnostics.info("a collection was going on when the trace ended");
      add_raw(thread, event.name, event.time_ns, std::max(event.time_ns, last_ns_));
    }
  }
  // Of those that begin together the longest comes first: the others are inside of it.
  std::ranges::stable_sort(markers_, {},
                           [](const Raw& raw) { return std::tuple(raw.thread, raw.time_ns, ~raw.end_ns); });
  std::uint64_t thread = 0;
  std::int64_t outermost_end_ns = std::numeric_limits<std::int64_t>::min();
  for (const Raw& raw : markers_) {
    if (raw.thread != thread) outermost_end_ns = std::numeric_limits<std::int64_t>::min();
    thread = raw.thread;
    const bool inside = raw.time_ns < outermost_end_ns && raw.end_ns <= outermost_end_ns;
    if (!inside) outermost_end_ns = raw.end_ns;
    profile.markers.push_back({raw.time_ns, TimeLine::distance(raw.time_ns, raw.end_ns),
                               thread_of(raw.thread), inside ? MarkerKind::kOther : MarkerKind::kGc,
                               raw.name});
  }
}

}  // namespace nodescope
