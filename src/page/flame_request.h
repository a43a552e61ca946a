#pragma once

#include <optional>

#include "analysis/diff.h"
#include "page/query.h"
#include "page/session.h"

namespace nodescope::page {

// What a question says about a flame graph.
struct FlameRequest {
  Asked asked;
  RootBy root = RootBy::kNone;
  DiffWidth width = DiffWidth::kAfter;
  double min = 0;  // of the total; smaller boxes are left out
  bool reversed = false;
  bool split_tiers = false;
  bool collapse_recursion = false;
  bool time_order = false;
  bool normalise = true;

  bool by_thread() const { return root != RootBy::kNone; }
};

Result<FlameRequest> parse_flame_request(const Session& session, const Query& query);

// The other side of a comparison, where the question has one: keys that begin with "base.".
Result<std::optional<Asked>> parse_baseline(const Session& session, const Query& query, const Asked& asked);

// The tree that a question about a flame graph is answered with.
Result<CallTree> derive_flame(Session& session, const Query& query);

}  // namespace nodescope::page
