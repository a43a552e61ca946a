#include "analysis/stalls.h"
#include "page/views.h"

namespace nodescope::page {

namespace {

StallInfo stall_info(const Stall& stall) {
  return {stall.thread.index(), stall.begin_ns,
          stall.end_ns,         stall.wall_ns / 1'000'000,
          stall.estimated,      stall.function.name,
          stall.function.place, stall.cause,
          stall.samples,        stall.why};
}

}  // namespace

Result<StallsReply> answer_stalls(Session& session, const Query& query) {
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
  StallsReply reply;
  for (const Stall& stall : report->stalls) reply.stalls.push_back(stall_info(stall));
  reply.sentence = report->sentence;
  reply.measured = report->measured;
  reply.busy_percent = report->busy_percent;
  if (report->longest) reply.longest = stall_info(*report->longest);
  return reply;
}

}  // namespace nodescope::page
