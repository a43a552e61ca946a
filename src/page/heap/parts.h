#pragma once

// What several views of a heap share.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "page/heap/replies.h"
#include "page/heap/session.h"
#include "page/query.h"

namespace nodescope::page {

// "Voucher @4711", "\"text\" @17".
std::string object_label(const HeapSession& session, std::uint32_t node);

// What a person reads on the way to an object rather than what V8 adds.
bool is_own_object(const HeapGraph& graph, std::uint32_t node);

// From a root to `node`; `objects` says how many are reached through each node, where that is asked for.
HeapPath path_columns(const HeapSession& session, std::uint32_t node, const Column<std::uint32_t>* objects);

// class=
Result<std::uint32_t> asked_class(const HeapSession& session, const Query& query);

}  // namespace nodescope::page
