#pragma once

#include <string_view>
#include <tuple>

#include "page/query.h"
#include "page/replies.h"
#include "page/session.h"

namespace nodescope::page {

Result<About> answer_about(Session& session, const Query& query);
Result<HeatReply> answer_heat(Session& session, const Query& query);
Result<LanesReply> answer_lanes(Session& session, const Query& query);
Result<CausesReply> answer_causes(Session& session, const Query& query);
Result<FlameReply> answer_flame(Session& session, const Query& query);
Result<TableReply> answer_table(Session& session, const Query& query);
Result<StallsReply> answer_stalls(Session& session, const Query& query);
Result<VerdictReply> answer_verdict(Session& session, const Query& query);
Result<SandwichReply> answer_sandwich(Session& session, const Query& query);
Result<SourceReply> answer_source(Session& session, const Query& query);
// The lines of a file that was made from others, by a list of groups for its places.
Result<GroupsReply> answer_groups(Session& session, const Query& query);
Result<FilesReply> answer_files(Session& session, const Query& query);
Result<TextReply> answer_text(Session& session, const Query& query);
Result<MarkersReply> answer_markers(Session& session, const Query& query);
Result<ExportReply> answer_export(Session& session, const Query& query);

// A view= of a question, and what answers it.
template <typename Reply>
struct View {
  std::string_view name;
  Result<Reply> (*answer)(Session& session, const Query& query);
};

// All of them: what the session answers with, and what the page's TypeScript knows.
constexpr auto kViews = std::tuple(  //
    View{"about", answer_about}, View{"heat", answer_heat}, View{"lanes", answer_lanes},
    View{"causes", answer_causes}, View{"flame", answer_flame}, View{"table", answer_table},
    View{"stalls", answer_stalls}, View{"verdict", answer_verdict}, View{"sandwich", answer_sandwich},
    View{"source", answer_source}, View{"groups", answer_groups}, View{"files", answer_files},
    View{"text", answer_text}, View{"markers", answer_markers}, View{"export", answer_export});

}  // namespace nodescope::page
