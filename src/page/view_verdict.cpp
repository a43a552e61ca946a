#include "analysis/verdict.h"
#include "page/views.h"

namespace nodescope::page {

Result<VerdictReply> answer_verdict(Session& session, const Query& query) {
  const auto asked = session.parse_asked(query);
  if (!asked) return std::unexpected(asked.error());
  const Recording& recording = session.recording(*asked);
  const auto stalls = derive_stalls(recording.profile, recording.overview, recording.causes, {}, {});
  if (!stalls) return std::unexpected(stalls.error());
  const bool has_times = recording.overview.duration_ns > 0;
  const Verdict verdict =
      derive_verdict(recording.profile, recording.overview, recording.causes, has_times ? &*stalls : nullptr);
  VerdictReply reply{verdict.sentence, verdict.all_cpu_ns, {}};
  if (verdict.thread) reply.thread = verdict.thread->index();
  return reply;
}

}  // namespace nodescope::page
