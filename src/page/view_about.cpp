#include "analysis/overview.h"
#include "page/views.h"

namespace nodescope::page {

namespace {

void write_facts(const Profile& profile, Reply& reply) {
  json::Writer& json = reply.json();
  json.key("facts").begin_object();
  for (const auto& [key, value] : profile.facts) json.untrusted_key(key).string(value);
  json.end_object();
}

void write_events(const Profile& profile, Reply& reply) {
  json::Writer& json = reply.json();
  json.key("events").begin_array();
  for (const Event& event : profile.events()) {
    json.begin_object();
    reply.member("name", profile.text(event.name));
    reply.member("unit", to_string(event.unit));
    json.end_object();
  }
  json.end_array();
}

void write_numbers(const Overview& overview, Reply& reply) {
  json::Writer& json = reply.json();
  json.key("accounting").begin_object();
  reply.member("taken", overview.accounting.taken);
  reply.member("shown", overview.accounting.shown);
  reply.member("lost", overview.accounting.lost);
  reply.member("other_events", overview.accounting.other_events);
  json.end_object();
  json.key("resolved").begin_object();
  reply.member("full", overview.resolution.full);
  reply.member("partial", overview.resolution.partial);
  reply.member("none", overview.resolution.none);
  json.end_object();
}

void write_threads(const Recording& recording, Reply& reply) {
  const Profile& profile = recording.profile;
  json::Writer& json = reply.json();
  json.key("processes").begin_array();
  for (const Process& process : profile.processes()) {
    json.begin_object();
    reply.member("pid", process.pid);
    reply.member("name", profile.text(process.name));
    json.end_object();
  }
  json.end_array();
  json.key("threads").begin_array();
  for (std::size_t i = 0; i < profile.threads().size(); ++i) {
    const Thread& thread = profile.threads()[i];
    const ThreadOverview& about = recording.overview.threads[i];
    json.begin_object();
    reply.member("pid", profile.process(thread.process).pid);
    reply.member("tid", thread.tid);
    reply.member("name", profile.text(thread.name));
    reply.member("process", thread.process.index());
    reply.member("samples", about.samples);
    reply.member("is_main", about.runs_js);
    reply.member("role", to_string(about.role));
    json.end_object();
  }
  json.end_array();
}

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "info";
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      break;
  }
  return "warning";
}

void write_diagnostics(const Profile& profile, Reply& reply) {
  json::Writer& json = reply.json();
  json.key("diagnostics").begin_array();
  for (const Diagnostic& entry : profile.diagnostics.entries()) {
    json.begin_object();
    reply.member("severity", severity_name(entry.severity));
    reply.member("what", entry.what);
    reply.member("count", entry.count);
    reply.member("example", entry.example);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

Result<void> answer_about(Session& session, const Query& query, Reply& reply) {
  const auto asked = session.parse_asked(query);
  if (!asked) return std::unexpected(asked.error());
  const Recording& recording = session.recording(*asked);
  const Overview& overview = recording.overview;
  const std::int64_t offset = recording.profile.clock_offset_ns;
  reply.member("name", recording.name);
  write_facts(recording.profile, reply);
  write_events(recording.profile, reply);
  reply.member("duration_ns", overview.duration_ns);
  // As a double: the page has no larger integers.
  reply.member("first_wall_ns",
               offset == 0 ? 0.0 : static_cast<double>(offset) + static_cast<double>(overview.first_time_ns));
  write_numbers(overview, reply);
  reply.member("has_times", overview.duration_ns > 0);
  write_threads(recording, reply);
  write_diagnostics(recording.profile, reply);
  reply.member("rate_hz", overview.rate_hz);
  reply.member("rate_estimated", overview.rate_estimated);
  reply.member("kinds_known", overview.kinds_known);
  reply.member("app_root", overview.app_root);
  return {};
}

}  // namespace nodescope::page
