#include "page/heap/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "page/heap/views.h"
#include "page/reply.h"

namespace nodescope::page {

HeapSession::HeapSession(HeapSnapshots snapshots)
    : snapshots_(std::move(snapshots)), reach_(derive_reach(graph())), groups_(derive_groups(heap())) {
  if (older().empty()) return;
  diff_ = derive_heap_diff(older().front(), heap());
  answer_ = find_leak(older(), *diff_, heap(), reach_);
  WideColumn sizes;
  sizes.resize(graph().node_count());
  Column<std::uint32_t> dominators;
  dominators.resize(graph().node_count());
  for (std::uint32_t node = 0; node < graph().node_count(); ++node) {
    sizes.set(node, is_new(node) ? heap().shallow_size(node) : 0);
    dominators[node] = heap().dominator(node);
  }
  new_bytes_ = derive_retained_sizes(dominators, heap().dominator_tree(), sizes);
}

std::string HeapSession::ask(std::string_view text) const {
  const auto query = Query::parse(text);
  if (!query) return error_reply(query.error().message);
  const std::string_view wanted = query->text("view");
  std::string reply;
  const auto try_view = [&](const auto& view) {
    if (view.name != wanted) return false;
    auto answer = view.answer(*this, *query);
    reply = answer ? write_reply(std::move(*answer)) : error_reply(answer.error().message);
    return true;
  };
  const bool known = std::apply([&](const auto&... views) { return (try_view(views) || ...); }, kHeapViews);
  return known ? reply : error_reply(fmt::format("view={}: there is no such view of a heap", wanted));
}

std::optional<std::uint32_t> HeapSession::find(std::uint64_t id) const {
  for (std::uint32_t node = 0; node < graph().node_count(); ++node) {
    if (graph().ids[node] == id) return node;
  }
  return std::nullopt;
}

}  // namespace nodescope::page
