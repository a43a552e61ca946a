#include "analysis/overview.h"
#include "page/views.h"

namespace nodescope::page {

namespace {

void add_threads(const Recording& recording, About& about) {
  const Profile& profile = recording.profile;
  for (const Process& process : profile.processes()) {
    about.processes.push_back({process.pid, profile.text(process.name)});
  }
  for (std::size_t i = 0; i < profile.threads().size(); ++i) {
    const Thread& thread = profile.threads()[i];
    const ThreadOverview& overview = recording.overview.threads[i];
    about.threads.push_back({profile.process(thread.process).pid, thread.tid, profile.text(thread.name),
                             thread.process.index(), overview.samples, overview.runs_js, overview.role});
  }
}

}  // namespace

Result<About> answer_about(Session& session, const Query& query) {
  const auto asked = session.parse_asked(query);
  if (!asked) return std::unexpected(asked.error());
  const Recording& recording = session.recording(*asked);
  const Profile& profile = recording.profile;
  const Overview& overview = recording.overview;
  About about;
  about.name = recording.name;
  about.facts = profile.facts;
  for (const Event& event : profile.events()) about.events.push_back({profile.text(event.name), event.unit});
  about.duration_ns = overview.duration_ns;
  // As a double: the page has no larger integers.
  if (const std::int64_t offset = profile.clock_offset_ns; offset != 0)
    about.first_wall_ns = static_cast<double>(offset) + static_cast<double>(overview.first_time_ns);
  about.accounting = {overview.accounting.taken, overview.accounting.shown, overview.accounting.lost,
                      overview.accounting.other_events};
  about.resolved = {overview.resolution.full, overview.resolution.partial, overview.resolution.none};
  about.has_times = overview.duration_ns > 0;
  add_threads(recording, about);
  for (const Diagnostic& entry : profile.diagnostics.entries()) {
    about.diagnostics.push_back({entry.severity, entry.what, entry.count, entry.example});
  }
  about.rate_hz = overview.rate_hz;
  about.rate_estimated = overview.rate_estimated;
  about.kinds_known = overview.kinds_known;
  about.app_root = overview.app_root;
  return about;
}

}  // namespace nodescope::page
