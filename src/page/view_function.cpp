// Views of one function, one file, and what a recording says besides its samples.
#include <fmt/format.h>

#include "analysis/sample_filter.h"
#include "analysis/sandwich.h"
#include "analysis/source_lines.h"
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

// What shares are shares of.
void write_total(const Profile& sums, Reply& reply) {
  reply.member("unit", to_string(sums.events().front().unit));
  reply.member("total", derive_total(sums, EventId{}, CountBy::kWeight));
}

// The lines of a file that was made from others, by a list of groups for its places.
Result<void> answer_source_groups(Session& session, const Query& query, Reply& reply) {
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
  reply.make_column<double>("self", found.self.size(), [&](std::size_t i) { return found.self[i]; });
  reply.make_column<double>("total", found.total.size(), [&](std::size_t i) { return found.total[i]; });
  return {};
}

}  // namespace

Result<void> answer_sandwich(Session& session, const Query& query, Reply& reply) {
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
  reply.member("total", sandwich.total);
  reply.member("self", sandwich.self);
  reply.member("unit", to_string(sandwich.unit));
  UsedLabels used(*sandwich.callees.labels);
  write_tree(sandwich.callers, "callers_", used, reply);
  write_tree(sandwich.callees, "callees_", used, reply);
  used.write(nullptr, reply);
  return {};
}

Result<void> answer_source(Session& session, const Query& query, Reply& reply) {
  if (query.find("groups")) return answer_source_groups(session, query, reply);
  const auto asked = parse_whole_stacks(session, query);
  if (!asked) return std::unexpected(asked.error());
  const auto sums = session.sums(*asked);
  if (!sums) return std::unexpected(sums.error());
  const SourceBy by = query.text("columns") == "1" ? SourceBy::kColumn : SourceBy::kLine;
  const SourceFile source = derive_source((*sums)->profile, query.text("path"), by);
  const std::vector<SourceLine>& lines = source.lines;
  write_total((*sums)->profile, reply);
  reply.member("samples", (*sums)->samples);
  reply.json().key("functions").begin_array();
  for (const SourceFunction& function : source.functions) {
    reply.json().begin_object();
    reply.member("name", function.name);
    reply.member("line", function.line);
    reply.json().end_object();
  }
  reply.json().end_array();
  reply.make_column<std::uint32_t>("line", lines.size(), [&](std::size_t i) { return lines[i].line; });
  reply.make_column<std::uint32_t>("column", lines.size(), [&](std::size_t i) { return lines[i].column; });
  reply.make_column<double>("self", lines.size(), [&](std::size_t i) { return lines[i].self; });
  reply.make_column<double>("total", lines.size(), [&](std::size_t i) { return lines[i].total; });
  return {};
}

Result<void> answer_text(Session& session, const Query& query, Reply& reply) {
  const auto asked = session.parse_asked(query);
  if (!asked) return std::unexpected(asked.error());
  const SourceText* source = session.recording(*asked).profile.find_source(query.text("path"));
  reply.member("is_kept", source != nullptr);
  const std::string_view text = source != nullptr ? std::string_view(source->text) : std::string_view();
  reply.column("bytes", std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
  return {};
}

Result<void> answer_files(Session& session, const Query& query, Reply& reply) {
  const auto asked = parse_whole_stacks(session, query);
  if (!asked) return std::unexpected(asked.error());
  const auto sums = session.sums(*asked);
  if (!sums) return std::unexpected(sums.error());
  write_total((*sums)->profile, reply);
  reply.json().key("files").begin_array();
  for (const FileTotals& file : derive_files((*sums)->profile)) {
    reply.json().begin_object();
    reply.member("path", file.path);
    reply.member("self", file.self);
    reply.member("total", file.total);
    reply.json().end_object();
  }
  reply.json().end_array();
  return {};
}

Result<void> answer_markers(Session& session, const Query& query, Reply& reply) {
  const auto asked = session.parse_asked(query);
  if (!asked) return std::unexpected(asked.error());
  const Recording& recording = session.recording(*asked);
  const auto filter = SampleFilter::build(recording.profile, asked->selection);
  if (!filter) return std::unexpected(filter.error());
  std::vector<const Marker*> markers;
  for (const Marker& marker : recording.profile.markers) {
    if (filter->keeps_thread(marker.thread) && filter->keeps_time(marker.time_ns)) markers.push_back(&marker);
  }
  reply.json().key("names").begin_array();
  for (const Marker* marker : markers) reply.json().string(recording.profile.text(marker->name));
  reply.json().end_array();
  const auto first = static_cast<double>(recording.overview.first_time_ns);
  reply.make_column<double>("time", markers.size(),
                            [&](std::size_t i) { return static_cast<double>(markers[i]->time_ns) - first; });
  reply.make_column<double>("duration", markers.size(),
                            [&](std::size_t i) { return markers[i]->duration_ns; });
  reply.make_column<std::uint32_t>("thread", markers.size(),
                                   [&](std::size_t i) { return markers[i]->thread.value; });
  reply.make_column<std::uint8_t>("kind", markers.size(), [&](std::size_t i) { return markers[i]->kind; });
  return {};
}

}  // namespace nodescope::page
