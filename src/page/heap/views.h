#pragma once

#include <string_view>
#include <tuple>

#include "page/heap/replies.h"
#include "page/heap/session.h"
#include "page/query.h"

namespace nodescope::page {

Result<HeapAbout> answer_heap_about(const HeapSession& session, const Query& query);
Result<HeapClassesReply> answer_heap_classes(const HeapSession& session, const Query& query);
// class=: its objects, largest first; new=1: only those that the first snapshot has not; from=: how many are
// left out.
Result<HeapObjectsReply> answer_heap_objects(const HeapSession& session, const Query& query);
// id=: one object; properties=, retainers=: how many of them are left out.
Result<HeapObjectReply> answer_heap_object(const HeapSession& session, const Query& query);
// class=: what holds them.
Result<HeapHolderReply> answer_heap_holder(const HeapSession& session, const Query& query);
// id=: below this object; of all where it is missing.
Result<HeapDominatorsReply> answer_heap_dominators(const HeapSession& session, const Query& query);

// A view= of a question, and what answers it.
template <typename Reply>
struct HeapView {
  std::string_view name;
  Result<Reply> (*answer)(const HeapSession& session, const Query& query);
};

// All of them: what the session answers with, and what the page's TypeScript knows.
constexpr auto kHeapViews =
    std::tuple(HeapView{"about", answer_heap_about}, HeapView{"classes", answer_heap_classes},
               HeapView{"objects", answer_heap_objects}, HeapView{"object", answer_heap_object},
               HeapView{"holder", answer_heap_holder}, HeapView{"dominators", answer_heap_dominators});

}  // namespace nodescope::page
