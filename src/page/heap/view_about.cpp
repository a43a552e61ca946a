#include <fmt/format.h>

#include "analysis/heap/holder.h"
#include "analysis/heap/place.h"
#include "base/text.h"
#include "page/heap/views.h"

namespace nodescope::page {

namespace {

HeapParts parts_of(const HeapAnalysis& heap) {
  const HeapStatistics bytes = derive_statistics(heap);
  const std::uint64_t known = bytes.code + bytes.strings + bytes.js_arrays + bytes.native + bytes.system;
  const auto number = [](std::uint64_t value) { return static_cast<double>(value); };
  return {number(bytes.code),   number(bytes.strings), number(bytes.js_arrays),
          number(bytes.native), number(bytes.system),  number(bytes.total > known ? bytes.total - known : 0)};
}

}  // namespace

Result<HeapAbout> answer_heap_about(const HeapSession& session, const Query& /*query*/) {
  const HeapGraph& graph = session.graph();
  const HeapAnalysis& heap = session.heap();
  HeapAbout about;
  for (std::size_t i = 0; i < session.older().size(); ++i) {
    const HeapBaseline& older = session.older()[i];
    about.snapshots.push_back({session.names()[i], static_cast<double>(older.total_bytes()),
                               static_cast<double>(older.objects().size())});
  }
  about.snapshots.push_back({session.names().back(), static_cast<double>(heap.total_bytes()),
                             static_cast<double>(graph.node_count())});
  about.references = static_cast<double>(graph.edge_count());
  about.parts = parts_of(heap);
  std::optional<std::uint32_t> object;
  if (session.diff() != nullptr) {
    about.sentence = leak_sentence(session.answer());
    about.leaks = session.answer().leak.has_value();
    if (const auto& leak = session.answer().leak) {
      about.heap_class = leak->heap_class;
      object = leak->sample;
    }
  } else {
    object = find_largest_keeper(heap);
    about.sentence = keeper_sentence(heap, session.reach(), object);
  }
  if (object) about.object = static_cast<double>(graph.ids[*object]);
  for (const Diagnostic& entry : graph.diagnostics.entries())
    about.diagnostics.push_back({entry.severity, entry.what, entry.count, entry.example});
  return about;
}

}  // namespace nodescope::page
