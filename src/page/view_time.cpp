// Views with a time axis.
#include <optional>

#include "analysis/heat_map.h"
#include "page/search.h"
#include "page/views.h"

namespace nodescope::page {

namespace {

constexpr double kMaxColumnNs = 1e18;

void write_causes(Reply& reply) {
  reply.json().key("causes").begin_array();
  for (std::size_t i = 0; i < kCauseCount; ++i) reply.json().string(to_string(static_cast<Cause>(i)));
  reply.json().end_array();
}

}  // namespace

Result<void> answer_heat(Session& session, const Query& query, Reply& reply) {
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
  const auto map = derive_heat_map(recording.profile, recording.causes, asked->selection, options);
  if (!map) return std::unexpected(map.error());
  reply.member("columns_count", map->columns);
  reply.member("rows", map->rows);
  reply.member("column_ns", map->column_ns);
  reply.member("first_column_ns", map->first_column_ns);
  reply.member("maximum", map->maximum);
  reply.member("p995", map->p995);
  write_causes(reply);
  reply.column("count", map->count);
  reply.column("cause", map->cause);
  reply.column("share", map->share);
  if (*search) reply.column("matched", map->matched);
  return {};
}

Result<void> answer_lanes(Session& session, const Query& query, Reply& reply) {
  const auto asked = session.parse_asked(query);
  if (!asked) return std::unexpected(asked.error());
  const auto bins = query.integer("bins", 600, 1'000'000);
  if (!bins) return std::unexpected(bins.error());
  const Recording& recording = session.recording(*asked);
  const auto lanes =
      derive_lanes(recording.profile, recording.overview, recording.causes, asked->selection, *bins);
  if (!lanes) return std::unexpected(lanes.error());
  reply.member("bins", lanes->bins);
  reply.member("bin_ns", lanes->bin_ns);
  reply.member("first_ns", lanes->first_ns);
  write_causes(reply);
  reply.column("count", lanes->count);
  if (!lanes->cpu_ns.empty()) reply.column("cpu_ns", lanes->cpu_ns);
  return {};
}

Result<void> answer_causes(Session& session, const Query& query, Reply& reply) {
  const auto asked = session.parse_asked(query);
  if (!asked) return std::unexpected(asked.error());
  const auto sums = session.sums(*asked);
  if (!sums) return std::unexpected(sums.error());
  const CauseTotals by_cause = sum_causes(session.recording(*asked).causes, (*sums)->by_stack);
  const std::vector<double> totals(by_cause.by.begin(), by_cause.by.end());
  write_causes(reply);
  reply.member("unit", to_string((*sums)->profile.events().front().unit));
  reply.member("samples", (*sums)->samples);
  reply.column("total", totals);
  return {};
}

}  // namespace nodescope::page
