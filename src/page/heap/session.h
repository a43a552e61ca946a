#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/heap/heap_analysis.h"
#include "analysis/heap/heap_diff.h"
#include "analysis/heap/leak.h"
#include "analysis/heap/reach.h"
#include "model/heap_graph.h"

namespace nodescope::page {

// Snapshots of one process: the newest with all of it, of those before only what is compared.
struct HeapSnapshots {
  std::vector<std::string> names;  // the oldest first
  std::unique_ptr<const HeapGraph> graph;
  std::unique_ptr<const HeapAnalysis> heap;
  std::vector<HeapBaseline> older;  // the oldest first
};

// Heap snapshots, and questions about them, with replies as page/session.h gives them for recordings.
class HeapSession {
 public:
  explicit HeapSession(HeapSnapshots snapshots);

  // A whole reply (page/reply.h), that of a failure too.
  std::string ask(std::string_view query) const;

  const HeapGraph& graph() const { return *snapshots_.graph; }
  const HeapAnalysis& heap() const { return *snapshots_.heap; }
  const std::vector<std::string>& names() const { return snapshots_.names; }
  const std::vector<HeapBaseline>& older() const { return snapshots_.older; }
  const Reach& reach() const { return reach_; }
  const std::vector<HeapGroup>& groups() const { return groups_; }
  // With the first snapshot, where there is more than one.
  const HeapDiff* diff() const { return diff_ ? &*diff_ : nullptr; }
  const LeakAnswer& answer() const { return answer_; }

  // Since the first snapshot; false where there is only one.
  bool is_new(std::uint32_t node) const {
    return diff_ && !snapshots_.older.front().objects().contains(graph().ids[node]);
  }
  // Of what a node retains, the bytes in new objects.
  std::uint64_t new_bytes(std::uint32_t node) const { return diff_ ? new_bytes_[node] : 0; }
  std::optional<std::uint32_t> find(std::uint64_t id) const;

 private:
  HeapSnapshots snapshots_;
  Reach reach_;
  std::vector<HeapGroup> groups_;
  std::optional<HeapDiff> diff_;
  LeakAnswer answer_;
  WideColumn new_bytes_;
};

}  // namespace nodescope::page
