#pragma once

#include <string>
#include <vector>

#include "analysis/function_table.h"
#include "page/query.h"
#include "page/session.h"

namespace nodescope::page {

// What a question says about a table.
struct TableRequest {
  Asked asked;
  GroupBy group = GroupBy::kFunction;
  SortBy sort = SortBy::kSelf;
  bool reversed = false;  // the smallest first, or names from Z to A
  std::size_t limit = 0;
  bool split_tiers = false;
};

struct TableRow : FunctionRow {
  std::uint64_t before_self = 0;  // of a comparison
  std::uint64_t before_total = 0;
};

struct Table {
  std::vector<TableRow> rows;
  std::size_t rows_count = 0;  // before the limit
  std::uint64_t total = 0;
  std::uint64_t before_total = 0;
  Unit unit = Unit::kSamples;
  bool is_comparison = false;
};

Result<TableRequest> parse_table_request(const Session& session, const Query& query);
Result<Table> derive_table(Session& session, const Query& query, const TableRequest& request);

}  // namespace nodescope::page
