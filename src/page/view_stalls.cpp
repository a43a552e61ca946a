#include "analysis/stalls.h"
#include "page/views.h"

namespace nodescope::page {

namespace {

void write_stall(const Stall& stall, Reply& reply) {
  reply.json().begin_object();
  reply.member("thread", stall.thread.index());
  reply.member("from_ns", stall.begin_ns);
  reply.member("to_ns", stall.end_ns);
  reply.member("wall_ms", stall.wall_ns / 1'000'000);
  reply.member("estimated", stall.estimated);
  reply.member("name", stall.function.name);
  reply.member("place", stall.function.place);
  reply.member("kind", static_cast<std::uint32_t>(stall.kind));
  reply.member("cause", to_string(stall.cause));
  reply.member("samples", stall.samples);
  reply.member("why", stall.why);
  reply.json().end_object();
}

}  // namespace

Result<void> answer_stalls(Session& session, const Query& query, Reply& reply) {
  const auto asked = session.parse_asked(query);
  if (!asked) return std::unexpected(asked.error());
  const auto min_ns = query.number("min_ns", 50e6, 0, 1e18);
  if (!min_ns) return std::unexpected(min_ns.error());
  const Recording& recording = session.recording(*asked);
  StallOptions options;
  options.min_ns = static_cast<std::int64_t>(*min_ns);
  const auto report =
      derive_stalls(recording.profile, recording.overview, recording.causes, asked->selection, options);
  if (!report) return std::unexpected(report.error());
  reply.json().key("stalls").begin_array();
  for (const Stall& stall : report->stalls) write_stall(stall, reply);
  reply.json().end_array();
  reply.member("sentence", report->sentence);
  reply.member("measured", report->measured);
  if (report->busy_percent) reply.member("busy_percent", *report->busy_percent);
  reply.json().key("longest");
  if (report->longest) {
    write_stall(*report->longest, reply);
  } else {
    reply.json().null();
  }
  return {};
}

}  // namespace nodescope::page
