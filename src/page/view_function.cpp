// Views of one function, one file, and what a recording says besides its samples.
#include <fmt/format.h>

#include "analysis/sample_filter.h"
#include "analysis/sandwich.h"
#include "analysis/source_lines.h"
#include "page/reply.h"
#include "page/tree_columns.h"
#include "page/views.h"

namespace nodescope::page {

namespace {

// Stacks as they are: lines of code are below what other forms leave out.
Result<Asked> parse_whole_stacks(const Session& session, const Query& query) {
  auto asked = session.parse_asked(query);
  if (!asked) return asked;
  asked->selection.only_my_code = false;
  asked->selection.fold_event_loop = false;
  return asked;
}

std::vector<double> as_doubles(const std::vector<std::uint64_t>& values) {
  return {values.begin(), values.end()};
}

}  // namespace

Result<GroupsReply> answer_groups(Session& session, const Query& query) {
  const auto asked = parse_whole_stacks(session, query);
  if (!asked) return std::unexpected(asked.error());
  const auto sums = session.sums(*asked);
  if (!sums) return std::unexpected(sums.error());
  const Profile& profile = (*sums)->profile;
  const std::string_view path = query.text("path");
  const std::vector<SourceLine> places = derive_source(profile, path, SourceBy::kColumn).lines;
  if (places.empty()) return fail(ErrorCode::kUsage, "groups=: the file has no places");
  const auto groups = query.integers("groups", static_cast<std::uint32_t>(places.size() - 1));
  if (!groups) return std::unexpected(groups.error());
  if (groups->size() != places.size())
    return fail(ErrorCode::kUsage, fmt::format("groups=: {} for {} places", groups->size(), places.size()));
  const SelfAndTotal found = sum_places(profile, path, places, *groups);
  return GroupsReply{as_doubles(found.self), as_doubles(found.total)};
}

Result<SandwichReply> answer_sandwich(Session& session, const Query& query) {
  const auto asked = session.parse_asked(query);
  if (!asked) return std::unexpected(asked.error());
  const auto min = query.number("min", 0.0002, 0, 1);
  if (!min) return std::unexpected(min.error());
  const auto sums = session.sums(*asked);
  if (!sums) return std::unexpected(sums.error());
  SandwichOptions options;
  options.min = *min;
  const LabelParts function{std::string(query.text("name")), std::string(query.text("place"))};
  const Sandwich sandwich = derive_sandwich((*sums)->profile, function, options);
  SandwichReply reply;
  reply.total = sandwich.total;
  reply.self = sandwich.self;
  reply.unit = sandwich.unit;
  UsedLabels used(*sandwich.callees.labels);
  reply.callers = tree_columns(sandwich.callers, used);
  reply.callees = tree_columns(sandwich.callees, used);
  reply.labels = used.columns(nullptr);
  return reply;
}

Result<SourceReply> answer_source(Session& session, const Query& query) {
  const auto asked = parse_whole_stacks(session, query);
  if (!asked) return std::unexpected(asked.error());
  const auto sums = session.sums(*asked);
  if (!sums) return std::unexpected(sums.error());
  const SourceBy by = query.text("columns") == "1" ? SourceBy::kColumn : SourceBy::kLine;
  const SourceFile source = derive_source((*sums)->profile, query.text("path"), by);
  const std::vector<SourceLine>& lines = source.lines;
  const Profile& profile = (*sums)->profile;
  SourceReply reply;
  reply.unit = profile.events().front().unit;
  reply.selection_total = derive_total(profile, EventId{}, CountBy::kWeight);
  reply.samples = (*sums)->samples;
  for (const SourceFunction& function : source.functions)
    reply.functions.push_back({function.name, function.line});
  reply.line = make_column<std::uint32_t>(lines.size(), [&](std::size_t i) { return lines[i].line; });
  reply.column = make_column<std::uint32_t>(lines.size(), [&](std::size_t i) { return lines[i].column; });
  reply.self = make_column<double>(lines.size(), [&](std::size_t i) { return lines[i].self; });
  reply.total = make_column<double>(lines.size(), [&](std::size_t i) { return lines[i].total; });
  return reply;
}

Result<TextReply> answer_text(Session& session, const Query& query) {
  const auto asked = session.parse_asked(query);
  if (!asked) return std::unexpected(asked.error());
  const SourceText* source = session.recording(*asked).profile.find_source(query.text("path"));
  if (source == nullptr) return TextReply{};
  return TextReply{true, {source->text.begin(), source->text.end()}};
}

Result<FilesReply> answer_files(Session& session, const Query& query) {
  const auto asked = parse_whole_stacks(session, query);
  if (!asked) return std::unexpected(asked.error());
  const auto sums = session.sums(*asked);
  if (!sums) return std::unexpected(sums.error());
  const Profile& profile = (*sums)->profile;
  FilesReply reply{profile.events().front().unit, derive_total(profile, EventId{}, CountBy::kWeight), {}};
  for (FileTotals& file : derive_files(profile)) {
    reply.files.push_back({std::move(file.path), file.self, file.total});
  }
  return reply;
}

Result<MarkersReply> answer_markers(Session& session, const Query& query) {
  const auto asked = session.parse_asked(query);
  if (!asked) return std::unexpected(asked.error());
  const Recording& recording = session.recording(*asked);
  const auto filter = SampleFilter::build(recording.profile, asked->selection);
  if (!filter) return std::unexpected(filter.error());
  const std::int64_t first = recording.overview.first_time_ns;
  MarkersReply reply;
  for (const Marker& marker : recording.profile.markers) {
    if (!filter->keeps_thread(marker.thread) || !filter->keeps_time(marker.time_ns)) continue;
    reply.names.emplace_back(recording.profile.text(marker.name));
    reply.time.push_back(static_cast<double>(marker.time_ns) - static_cast<double>(first));
    reply.duration.push_back(static_cast<double>(marker.duration_ns));
    reply.thread.push_back(marker.thread.value);
    reply.kind.push_back(marker.kind);
  }
  return reply;
}

}  // namespace nodescope::page
