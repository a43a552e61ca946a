#pragma once

#include "page/query.h"
#include "page/reply.h"
#include "page/session.h"

namespace nodescope::page {

// One for each view= of a question.
using Answer = Result<void> (*)(Session& session, const Query& query, Reply& reply);

Result<void> answer_about(Session& session, const Query& query, Reply& reply);
Result<void> answer_heat(Session& session, const Query& query, Reply& reply);
Result<void> answer_lanes(Session& session, const Query& query, Reply& reply);
Result<void> answer_causes(Session& session, const Query& query, Reply& reply);
Result<void> answer_flame(Session& session, const Query& query, Reply& reply);
Result<void> answer_stalls(Session& session, const Query& query, Reply& reply);
Result<void> answer_verdict(Session& session, const Query& query, Reply& reply);
Result<void> answer_sandwich(Session& session, const Query& query, Reply& reply);
Result<void> answer_source(Session& session, const Query& query, Reply& reply);
Result<void> answer_text(Session& session, const Query& query, Reply& reply);
Result<void> answer_files(Session& session, const Query& query, Reply& reply);
Result<void> answer_markers(Session& session, const Query& query, Reply& reply);
Result<void> answer_export(Session& session, const Query& query, Reply& reply);
Result<void> answer_table(Session& session, const Query& query, Reply& reply);

}  // namespace nodescope::page
