#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/diff.h"
#include "analysis/file_match.h"
#include "analysis/function_table.h"
#include "analysis/thread_group.h"
#include "page/flame_request.h"
#include "page/reply.h"
#include "page/search.h"
#include "page/table_rows.h"
#include "page/views.h"

namespace nodescope::page {

namespace {

constexpr std::uint32_t kMaxRows = 1'000'000;

std::vector<TableRow> rows_of(const Diff& diff) {
  std::vector<TableRow> rows;
  for (DiffFunction& function : diff.derive_functions()) {
    TableRow& row = rows.emplace_back();
    row.name = std::move(function.name);
    row.parts = std::move(function.parts);
    row.kind = function.kind;
    row.origin = function.origin;
    row.self = function.after_self;
    row.total = function.after_total;
    row.before_self = function.before_self;
    row.before_total = function.before_total;
  }
  return rows;
}

std::vector<TableRow> rows_of(FunctionTable table) {
  std::vector<TableRow> rows;
  rows.reserve(table.rows.size());
  for (FunctionRow& row : table.rows) rows.push_back({std::move(row)});
  return rows;
}

// What files of the first table are called in the second: a release folder has another name there.
void rename_files(FunctionTable& before, const FunctionTable& after) {
  std::vector<std::string_view> old_names;
  std::vector<std::string_view> new_names;
  for (const FunctionRow& row : before.rows) old_names.push_back(row.name);
  for (const FunctionRow& row : after.rows) new_names.push_back(row.name);
  const FileMatch match = match_files(old_names, new_names);
  std::vector<std::string> renamed;
  for (const std::string_view name : old_names) {
    const auto found = match.find(name);
    renamed.emplace_back(found == match.end() ? name : found->second);
  }
  for (std::size_t i = 0; i < renamed.size(); ++i) {
    before.rows[i].parts.name = renamed[i];
    before.rows[i].name = std::move(renamed[i]);
  }
}

// Groups other than functions: two tables, put side by side by name and kind.
std::vector<TableRow> compare_groups(const FunctionTable& before, std::vector<TableRow> rows,
                                     std::uint64_t after_total, bool normalise) {
  const double factor = normalise && before.total != 0 && after_total != 0
                            ? static_cast<double>(after_total) / static_cast<double>(before.total)
                            : 1;
  const auto scaled = [factor](std::uint64_t value) {
    return static_cast<std::uint64_t>(static_cast<double>(value) * factor);
  };
  FlatMap<std::string, std::size_t> row_of;
  const auto key_of = [](FrameKind kind, std::string_view name) {
    return fmt::format("{}:{}", static_cast<int>(kind), name);
  };
  for (std::size_t i = 0; i < rows.size(); ++i) row_of.emplace(key_of(rows[i].kind, rows[i].name), i);
  for (const FunctionRow& old : before.rows) {
    const auto [entry, added] = row_of.try_emplace(key_of(old.kind, old.name), rows.size());
    if (added) {
      TableRow& row = rows.emplace_back();
      row.name = old.name;
      row.parts = old.parts;
      row.kind = old.kind;
      row.origin = old.origin;
    }
    rows[entry->second].before_self = scaled(old.self);
    rows[entry->second].before_total = scaled(old.total);
  }
  return rows;
}

// Of a comparison: the largest changes first, whichever way they went.
void sort_by_change(std::vector<TableRow>& rows, SortBy sort) {
  const auto change = [](std::uint64_t before, std::uint64_t after) {
    return before > after ? before - after : after - before;
  };
  std::ranges::stable_sort(rows, [&](const TableRow& a, const TableRow& b) {
    const std::pair self(change(a.before_self, a.self), change(b.before_self, b.self));
    const std::pair total(change(a.before_total, a.total), change(b.before_total, b.total));
    const auto by_self = std::pair(self.first, total.first) <=> std::pair(self.second, total.second);
    const auto by_total = std::pair(total.first, self.first) <=> std::pair(total.second, self.second);
    if (sort == SortBy::kSelf && by_self != 0) return by_self > 0;
    if (sort == SortBy::kTotal && by_total != 0) return by_total > 0;
    return a.name < b.name;
  });
}

FunctionTableOptions table_options(const TableRequest& request) {
  FunctionTableOptions options;
  options.group = request.group;
  options.sort = request.sort;
  options.labels.merge_tiers = !request.split_tiers;
  return options;
}

Table compare(const Profile& before, const Profile& after, const TableRequest& request, bool normalise) {
  Table table;
  table.is_comparison = true;
  if (request.group == GroupBy::kFunction) {
    DiffOptions options;
    options.normalise = normalise;
    options.labels.merge_tiers = !request.split_tiers;
    const Diff diff = derive_diff(before, after, options);
    table.total = diff.after_total();
    table.unit = diff.unit();
    table.rows = rows_of(diff);
  } else {
    const FunctionTableOptions options = table_options(request);
    FunctionTable groups = derive_function_table(after, options);
    table.total = groups.total;
    table.unit = groups.unit;
    FunctionTable old_groups = derive_function_table(before, options);
    if (request.group == GroupBy::kFile) rename_files(old_groups, groups);
    table.rows = compare_groups(old_groups, rows_of(std::move(groups)), table.total, normalise);
  }
  for (const TableRow& row : table.rows) table.before_total += row.before_self;
  // Functions come as they were derived: what got slower first.
  if (request.group != GroupBy::kFunction || request.sort != SortBy::kTotal)
    sort_by_change(table.rows, request.sort);
  return table;
}

bool is_by_thread(GroupBy group) {
  return group == GroupBy::kProcess || group == GroupBy::kThread;
}

std::vector<std::uint32_t> rows_of_threads(const Profile& profile, GroupBy group,
                                           const std::vector<TableRow>& rows) {
  FlatMap<std::string_view, std::uint32_t> row_of;
  for (std::uint32_t i = 0; i < rows.size(); ++i) row_of.emplace(rows[i].name, i);
  std::vector<std::uint32_t> found;
  for (std::size_t i = 0; i < profile.threads().size(); ++i) {
    const auto row = row_of.find(thread_group(profile, ThreadId{i}, group));
    found.push_back(row == row_of.end() ? kNoRow : row->second);
  }
  return found;
}

}  // namespace

Result<TableRequest> parse_table_request(const Session& session, const Query& query) {
  TableRequest request;
  const auto asked = session.parse_asked(query);
  if (!asked) return std::unexpected(asked.error());
  request.asked = *asked;
  if (const std::string_view group = query.text("group"); !group.empty()) {
    const auto known = group_by_of(group);
    if (!known) return fail(ErrorCode::kUsage, fmt::format("group={}: there is no such group", group));
    request.group = *known;
  }
  const std::string_view sort = query.text("sort");
  if (sort == "total") {
    request.sort = SortBy::kTotal;
  } else if (sort == "name") {
    request.sort = SortBy::kName;
  } else if (!sort.empty() && sort != "self") {
    return fail(ErrorCode::kUsage, fmt::format("sort={}: not one of self, total, name", sort));
  }
  request.reversed = query.text("order") == "reversed";
  const auto limit = query.integer("limit", 2000, kMaxRows);
  if (!limit) return std::unexpected(limit.error());
  request.limit = *limit;
  request.split_tiers = query.text("tiers") == "split";
  return request;
}

Result<Table> derive_table(Session& session, const Query& query, const TableRequest& request) {
  const auto baseline = parse_baseline(session, query, request.asked);
  if (!baseline) return std::unexpected(baseline.error());
  const auto filter = parse_search(query, "filter");
  if (!filter) return std::unexpected(filter.error());
  const bool by_thread = is_by_thread(request.group);
  const auto sums = session.sums(request.asked, by_thread);
  if (!sums) return std::unexpected(sums.error());

  Table table;
  if (!*baseline) {
    FunctionTable functions = derive_function_table((*sums)->profile, table_options(request));
    table.total = functions.total;
    table.unit = functions.unit;
    table.rows = rows_of(std::move(functions));
  } else {
    const auto before = session.sums(**baseline, by_thread);
    if (!before) return std::unexpected(before.error());
    table = compare((*before)->profile, (*sums)->profile, request, query.text("normalise") != "0");
  }
  if (*filter) std::erase_if(table.rows, [&](const TableRow& row) { return !(*filter)->found_in(row.name); });
  if (request.reversed) std::ranges::reverse(table.rows);
  table.rows_count = table.rows.size();
  if (table.rows.size() > request.limit) table.rows.resize(request.limit);
  return table;
}

Result<TableReply> answer_table(Session& session, const Query& query) {
  const auto request = parse_table_request(session, query);
  if (!request) return std::unexpected(request.error());
  auto table = derive_table(session, query, *request);
  if (!table) return std::unexpected(table.error());
  std::vector<TableRow>& rows = table->rows;
  TableReply reply;
  reply.total = table->total;
  reply.unit = table->unit;
  reply.rows_count = table->rows_count;
  const std::size_t count = rows.size();
  reply.self = make_column<double>(count, [&](std::size_t i) { return rows[i].self; });
  reply.totals = make_column<double>(count, [&](std::size_t i) { return rows[i].total; });
  reply.kind = make_column<FrameKind>(count, [&](std::size_t i) { return rows[i].kind; });
  reply.origin = make_column<Origin>(count, [&](std::size_t i) { return rows[i].origin; });
  reply.tier = make_column<JsTier>(count, [&](std::size_t i) { return rows[i].tier; });
  if (table->is_comparison) {
    reply.before_total = table->before_total;
    reply.before_self = make_column<double>(count, [&](std::size_t i) { return rows[i].before_self; });
    reply.before_totals = make_column<double>(count, [&](std::size_t i) { return rows[i].before_total; });
  }
  if (is_by_thread(request->group))
    reply.row_of_thread = rows_of_threads(session.recording(request->asked).profile, request->group, rows);
  for (TableRow& row : rows) {
    reply.names.push_back(std::move(row.parts.name));
    reply.places.push_back(std::move(row.parts.place));
  }
  return reply;
}

}  // namespace nodescope::page
