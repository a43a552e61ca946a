#include "app/core/awaits.h"

#include "app/await_report.h"
#include "app/core/walked_heap.h"

namespace nodescope {

Result<void> write_core_awaits(CoreSession& session, bool json, bool all, ByteSink& sink) {
  constexpr std::size_t kRows = 30;
  const v8::AsyncLayout& layout = session.view().engine()->async;
  Awaits awaits;
  if (session.core() != nullptr) awaits.title = "Core of process";
  awaits.pid = session.view().process().pid();
  awaits.versions = session.view().layout()->versions;
  if (!layout.tells_promises())
    return fail(ErrorCode::kUnsupported, "the promises of V8 " + awaits.versions.v8 + " are not known");
  const auto heap = session.heap();
  if (!heap) return std::unexpected(heap.error());
  session.release();
  v8::AsyncObjects objects;
  for (const WalkedHeap::IsolateObjects& isolate : (*heap)->isolates())
    v8::add_live_async_objects(isolate.objects, layout, objects);
  derive_awaits((*heap)->heap(), layout, objects, awaits);
  return json ? write_awaits(awaits, sink) : sink.write(awaits_text(awaits, all ? 0 : kRows));
}

}  // namespace nodescope
