// Views with a time axis.
#include <optional>

#include "analysis/heat_map.h"
#include "page/search.h"
#include "page/views.h"

namespace nodescope::page {

namespace {

constexpr double kMaxColumnNs = 1e18;

}  // namespace

Result<HeatReply> answer_heat(Session& session, const Query& query) {
  const auto asked = session.parse_asked(query);
  if (!asked) return std::unexpected(asked.error());
  const auto column_ns = query.number("column_ns", 1e9, 1, kMaxColumnNs);
  if (!column_ns) return std::unexpected(column_ns.error());
  const auto rows = query.integer("rows", 50, kMaxCells);
  if (!rows) return std::unexpected(rows.error());
  const auto search = parse_search(query);
  if (!search) return std::unexpected(search.error());

  HeatOptions options;
  options.column_ns = static_cast<std::int64_t>(*column_ns);
  options.rows = *rows;
  if (*search) options.search = &**search;
  const Recording& recording = session.recording(*asked);
  auto map = derive_heat_map(recording.profile, recording.causes, asked->selection, options);
  if (!map) return std::unexpected(map.error());
  HeatReply reply;
  reply.columns_count = map->columns;
  reply.rows = map->rows;
  reply.column_ns = map->column_ns;
  reply.first_column_ns = map->first_column_ns;
  reply.maximum = map->maximum;
  reply.p995 = map->p995;
  reply.count = std::move(map->count);
  reply.cause = std::move(map->cause);
  reply.share = std::move(map->share);
  if (*search) reply.matched = std::move(map->matched);
  return reply;
}

Result<LanesReply> answer_lanes(Session& session, const Query& query) {
  const auto asked = session.parse_asked(query);
  if (!asked) return std::unexpected(asked.error());
  const auto bins = query.integer("bins", 600, 1'000'000);
  if (!bins) return std::unexpected(bins.error());
  const Recording& recording = session.recording(*asked);
  auto lanes = derive_lanes(recording.profile, recording.overview, recording.causes, asked->selection, *bins);
  if (!lanes) return std::unexpected(lanes.error());
  LanesReply reply{lanes->bins, lanes->bin_ns, lanes->first_ns, std::move(lanes->count), {}};
  if (!lanes->cpu_ns.empty()) reply.cpu_ns = std::move(lanes->cpu_ns);
  return reply;
}

Result<CausesReply> answer_causes(Session& session, const Query& query) {
  const auto asked = session.parse_asked(query);
  if (!asked) return std::unexpected(asked.error());
  const auto sums = session.sums(*asked);
  if (!sums) return std::unexpected(sums.error());
  const CauseTotals by_cause = sum_causes(session.recording(*asked).causes, (*sums)->by_stack);
  const Unit unit = (*sums)->profile.events().front().unit;
  return CausesReply{unit, (*sums)->samples, {by_cause.by.begin(), by_cause.by.end()}};
}

}  // namespace nodescope::page
